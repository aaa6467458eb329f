"""Split files/mixtures.csv into train, validation and test rows.

The order comes from a digest of each row, so it is the same on every machine and does
not depend on the label. Rows get new numbers in that order.
"""

import csv
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

TRAIN, VALIDATION = 300, 100
LABEL = "strength"


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write the data for agents to `public`, all but training labels to `private`."""
    path = Path(__file__).parent / "files" / "mixtures.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    facts = [name for name in rows[0] if name not in ("number", LABEL)]
    rows = drawn_order(rows, "mixtures", lambda row: row["number"])
    for number, row in enumerate(rows, start=1):
        row["Id"] = str(number)
    train, rest = rows[:TRAIN], rows[TRAIN:]
    if tamper:
        rest = [row | {LABEL: f"{float(row[LABEL]) + 1000}"} for row in rest]
    validation, test = rest[:VALIDATION], rest[VALIDATION:]

    def write(path: Path, rows: list[dict[str, str]], columns: list[str]) -> None:
        write_table(path, columns, ([row[name] for name in columns] for row in rows))

    data = public / "data"
    write(data / "train.csv", train, ["Id", *facts, LABEL])
    write(data / "validation.csv", validation, ["Id", *facts])
    write(data / "test.csv", test, ["Id", *facts])
    write(private / "validation.csv", validation, ["Id", LABEL])
    write(private / "answers.csv", test, ["Id", LABEL])
