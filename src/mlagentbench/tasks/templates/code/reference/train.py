"""Run read_date on the visible inputs and print the dates that it gets wrong."""

from pathlib import Path

from dates import read_date
from evaluate import main, read_dates

SHOWN = 10


def wrong_dates():
    for name, dates in read_dates(Path("data/dates.csv")).items():
        lines = Path("data/inputs", name).read_text().splitlines()
        for line, date in zip(lines, dates, strict=True):
            if read_date(line) != date:
                yield f"{line!r} is {date}"


if __name__ == "__main__":
    print("\n".join([*wrong_dates()][:SHOWN]))
    main()
