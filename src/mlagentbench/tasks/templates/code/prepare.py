"""Draw dates, write them in seven notations, and keep some of the inputs hidden."""

from datetime import date, timedelta
from pathlib import Path

from numpy.random import Generator

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import generator, write_table

# Random: whoever knows the seed could draw the hidden dates again.
SALT = "c41e8a0b92d74f36a1d5"
VISIBLE_INPUTS, VALIDATION_INPUTS, HIDDEN_INPUTS, LINES = 1, 1, 2, 80
FIRST, DAYS = date(1950, 1, 1), 36_000
NOTATIONS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%d-%b-%y",
    "%Y%m%d",
)


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write visible inputs to `public`, hidden ones to `private`, each with dates."""
    rng, later = generator(SALT), 1 if tamper else 0
    _write(public / "data", rng, VISIBLE_INPUTS, later=0)
    _write(private, rng, HIDDEN_INPUTS, later=later)
    _write(private / "validation", rng, VALIDATION_INPUTS, later=later)


def _write(folder: Path, rng: Generator, inputs: int, *, later: int) -> None:
    """Write inputs, and as the truth dates that are `later` days later."""
    (folder / "inputs").mkdir(parents=True)
    rows = []
    for number in range(inputs):
        name = f"input{number}.txt"
        days = [FIRST + timedelta(int(day)) for day in rng.integers(DAYS, size=LINES)]
        forms = rng.integers(len(NOTATIONS), size=LINES)
        texts = [
            _written(day, NOTATIONS[form])
            for day, form in zip(days, forms, strict=True)
        ]
        (folder / "inputs" / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
        rows += [
            (name, line, (day + timedelta(later)).isoformat())
            for line, day in enumerate(days, start=1)
        ]
    write_table(folder / "dates.csv", ["input", "line", "date"], rows)


def _written(day: date, notation: str) -> str:
    # Two digits name a year from 1969 to 2068 only.
    if "%y" in notation and not 1969 <= day.year <= 2068:
        notation = notation.replace("%y", "%Y")
    return day.strftime(notation)
