"""Split the patients of a liver study, and hide what came after one of their visits.

Split, numbers and the visits at which forecasts are made come from digests, so they
are the same on every machine and say nothing about a patient.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

from .forecasts import Forecast, followed_up, forecasts, known_at
from .study import COLUMNS, Patient, Visit, read_study

SALT = "parkinsons-disease@1"
TEST, VALIDATION = 112, 60
VISIT_HEADER = ("patient", "visit", "day", *COLUMNS)
QUESTION_HEADER = ("patient", "visit", "target", "months_ahead")
ANSWER_HEADER = ("prediction_id", "value")

Patients = dict[int, Patient]
Asked = Mapping[int, Forecast]


class Split(NamedTuple):
    """The patients, by their new numbers."""

    train: Patients
    validation: Patients
    test: Patients


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write visits and questions; what test patients' values became stays private."""
    split = _split(_numbered(read_study(archives)))
    asked = _asked(split.validation | split.test)
    validation = {row: a for row, a in asked.items() if a.patient in split.validation}
    test = {row: a for row, a in asked.items() if a.patient in split.test}
    if tamper:
        test = {row: _altered(forecast) for row, forecast in test.items()}

    data = public / "data"
    _write_train(data, split.train)
    _write_held_out(data, "validation", split.validation, validation)
    _write_held_out(data, "test", split.test, test)
    _write_answers(data / "validation.csv", validation)
    _write_answers(private / "answers.csv", test)
    description = Path(__file__).with_name("data_description.md")
    (data / "data_description.md").write_bytes(description.read_bytes())


def forecast_visit(number: int, patient: Patient) -> Visit:
    """Draw the visit of a held-out patient at which forecasts are made.

    It is not the first, and where possible one that can be followed up.
    """
    past = drawn_order(patient[1:], f"{SALT} visit {number}", lambda v: v.number)
    return next((visit for visit in past if followed_up(patient, visit)), past[0])


def _numbered(study: Mapping[str, Patient]) -> dict[int, Patient]:
    order = drawn_order(study, f"{SALT} patient", str)
    return {number: study[old] for number, old in enumerate(order, start=1)}


def _split(patients: Patients) -> Split:
    # A forecast needs a past, so whoever came only once is there to learn from.
    seen_again = [n for n, patient in patients.items() if len(patient) > 1]
    held_out = drawn_order(seen_again, f"{SALT} split", str)[: TEST + VALIDATION]
    test, validation = {*held_out[:TEST]}, {*held_out[TEST:]}
    return Split(
        train={n: p for n, p in patients.items() if n not in test | validation},
        validation={n: p for n, p in patients.items() if n in validation},
        test={n: p for n, p in patients.items() if n in test},
    )


def _asked(patients: Patients) -> dict[int, Forecast]:
    every = [
        forecast
        for number, patient in patients.items()
        for forecast in forecasts(number, patient, forecast_visit(number, patient))
    ]
    order = drawn_order(every, f"{SALT} question", lambda f: f[:4])
    return dict(enumerate(order, start=1))


def _altered(forecast: Forecast) -> Forecast:
    return forecast._replace(value=f"{2 * float(forecast.value) + 1}")


def _write_train(data: Path, patients: Patients) -> None:
    _write_visits(data / "train_visits.csv", patients)
    rows = [
        forecast
        for number, patient in patients.items()
        for visit in patient
        for forecast in forecasts(number, patient, visit)
    ]
    write_table(data / "train_rows.csv", (*QUESTION_HEADER, "value"), rows)


def _write_held_out(data: Path, name: str, patients: Patients, asked: Asked) -> None:
    known = {n: known_at(p, forecast_visit(n, p)) for n, p in patients.items()}
    _write_visits(data / f"{name}_visits.csv", known)
    rows = [(row, *forecast[:4]) for row, forecast in asked.items()]
    write_table(data / f"{name}_rows.csv", ("prediction_id", *QUESTION_HEADER), rows)


def _write_visits(path: Path, patients: Patients) -> None:
    write_table(path, VISIT_HEADER, _visit_rows(patients))


def _visit_rows(patients: Patients) -> Iterable[Sequence[object]]:
    for number, patient in patients.items():
        for visit in patient:
            cells = (visit.cells[column] for column in COLUMNS)
            yield (number, visit.number, visit.day, *cells)


def _write_answers(path: Path, asked: Asked) -> None:
    rows = [(row, forecast.value) for row, forecast in asked.items()]
    write_table(path, ANSWER_HEADER, rows)
