"""Split the labelled passengers anew, whole travel groups at a time.

Groups, and passengers within a group, are numbered afresh in an order drawn from a
digest of their old numbers. Who travelled together stays visible, because it is a
fact about a passenger; the old numbers do not.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

PACKAGE = "spaceship-titanic-classif-model"
MEMBERS = ("classifier_model/dataset/train.csv", "classifier_model/dataset/test.csv")
SALT = "spaceship-titanic@1"
TRAIN, VALIDATION = 3500, 1200
"""How many passengers a part needs before the next group goes to the next part."""
ID, LABEL = "PassengerId", "Transported"
OPPOSITE = {"True": "False", "False": "True"}
Passenger = dict[str, str]
Group = list[Passenger]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test passengers; the test labels stay private."""
    groups = _numbered_afresh(_travel_groups(_read_passengers(archives)))
    train, rest = _take_whole_groups(groups, TRAIN)
    validation, rest = _take_whole_groups(rest, VALIDATION)
    test = [passenger for group in rest for passenger in group]
    if tamper:
        test = [person | {LABEL: OPPOSITE[person[LABEL]]} for person in test]

    columns = list(train[0])
    visible = [column for column in columns if column != LABEL]
    data = public / "data"
    _write(data / "train.csv", train, columns)
    _write(data / "validation_passengers.csv", validation, visible)
    _write(data / "validation.csv", validation, [ID, LABEL])
    _write(data / "test.csv", test, visible)
    description = Path(__file__).with_name("data_description.md")
    (data / "data_description.md").write_bytes(description.read_bytes())
    _write(private / "answers.csv", test, [ID, LABEL])


def _read_passengers(archives: Archives) -> list[Passenger]:
    tables = archives.read_all(PACKAGE, MEMBERS)
    return [
        passenger
        for member in MEMBERS
        for passenger in csv.DictReader(io.StringIO(tables[member].decode("utf-8")))
    ]


def _travel_groups(passengers: Iterable[Passenger]) -> dict[str, Group]:
    groups: defaultdict[str, Group] = defaultdict(list)
    for passenger in passengers:
        groups[passenger[ID].partition("_")[0]].append(passenger)
    return groups


def _numbered_afresh(groups: dict[str, Group]) -> list[Group]:
    order = drawn_order(groups, SALT, lambda number: f"group {number}")
    return [
        [
            passenger | {ID: f"{group:04d}_{place:02d}"}
            for place, passenger in enumerate(_drawn(groups[number]), start=1)
        ]
        for group, number in enumerate(order, start=1)
    ]


def _drawn(group: Group) -> Group:
    return drawn_order(group, SALT, lambda passenger: f"passenger {passenger[ID]}")


def _take_whole_groups(
    groups: Sequence[Group], at_least: int
) -> tuple[list[Passenger], Sequence[Group]]:
    taken: list[Passenger] = []
    count = 0
    while len(taken) < at_least:
        taken += groups[count]
        count += 1
    return taken, groups[count:]


def _write(path: Path, passengers: Iterable[Passenger], columns: Sequence[str]) -> None:
    rows = ([passenger[column] for column in columns] for passenger in passengers)
    write_table(path, columns, rows)
