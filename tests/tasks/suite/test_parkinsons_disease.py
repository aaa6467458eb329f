"""Forecasts are asked without showing what came later, and SMAPE is what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.code_task import csv_rows

from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import Prepared
from mlagentbench.tasks.sources import fetch
from mlagentbench.tasks.suite.parkinsons_disease.forecasts import forecasts, known_at
from mlagentbench.tasks.suite.parkinsons_disease.grade import grade
from mlagentbench.tasks.suite.parkinsons_disease.metric import smape_plus_one
from mlagentbench.tasks.suite.parkinsons_disease.study import (
    COLUMNS,
    TARGETS,
    Visit,
    read_study,
)

TASK = "parkinsons-disease"
SIZES = {"train": 140, "validation": 60, "test": 112}
Row = dict[str, str]
amounts = st.floats(0, 1e4)


@pytest.fixture(scope="module")
def archives() -> Archives:
    return fetch(load_task(TASK), default_cache())


def table(prepared: Prepared, name: str) -> list[Row]:
    return csv_rows(prepared.public / "data" / f"{name}.csv")


def fingerprint(visit: Row) -> tuple[str, ...]:
    """Tell a visit by what is never hidden."""
    return tuple(visit[c] for c in ("day", *COLUMNS) if c not in TARGETS)


def visit_on(number: int, day: int, **values: str) -> Visit:
    return Visit(number, day, dict.fromkeys(COLUMNS, "") | values)


@given(st.lists(st.tuples(amounts, amounts), min_size=1))
def test_smape_is_the_mean_relative_distance_after_adding_one(pairs):
    total = 0.0
    for guess, fact in pairs:
        total += abs((guess + 1) - (fact + 1)) / (((guess + 1) + (fact + 1)) / 2)
    predicted, actual = zip(*pairs, strict=True)
    expected = 100 * total / len(pairs)
    assert smape_plus_one(predicted, actual) == pytest.approx(expected, abs=1e-9)


def test_smape_of_a_known_case_is_known():
    assert smape_plus_one([3.0, 0.0], [1.0, 0.0]) == pytest.approx(100 / 3)


def test_negative_values_are_refused(tmp_path):
    truth, answers = tmp_path / "truth.csv", tmp_path / "submission.csv"
    truth.write_text("prediction_id,value\n1,2.5\n", encoding="utf-8")
    answers.write_text("prediction_id,value\n1,-0.5\n", encoding="utf-8")
    with pytest.raises(SubmissionError, match="negative"):
        grade(answers, truth)


def test_every_patient_is_on_one_side_of_the_split(prepared):
    patients = {
        part: {row["patient"] for row in table(prepared, f"{part}_visits")}
        for part in SIZES
    }
    assert {part: len(found) for part, found in patients.items()} == SIZES
    assert set.union(*patients.values()) == {str(n) for n in range(1, 313)}
    for part, found in patients.items():
        assert {row["patient"] for row in table(prepared, f"{part}_rows")} == found


def test_no_visit_appears_on_two_sides_of_the_split(prepared):
    train, validation, test = (
        {fingerprint(visit) for visit in table(prepared, f"{part}_visits")}
        for part in SIZES
    )
    assert not train & validation
    assert not (train | validation) & test


@pytest.mark.parametrize("part", ["validation", "test"])
def test_held_out_patients_end_with_a_forecast_visit_without_targets(prepared, part):
    asked = {row["patient"]: row["visit"] for row in table(prepared, f"{part}_rows")}
    visits = table(prepared, f"{part}_visits")
    last = {visit["patient"]: visit for visit in visits}
    assert asked == {patient: visit["visit"] for patient, visit in last.items()}
    assert all(int(visit["visit"]) > 1 for visit in last.values())
    assert not any(visit[target] for visit in last.values() for target in TARGETS)


def test_visible_and_hidden_answers_together_are_numbered_without_gaps(prepared):
    visible = table(prepared, "validation")
    hidden = csv_rows(prepared.private / "answers.csv")
    asked = table(prepared, "validation_rows") + table(prepared, "test_rows")
    ids = [int(row["prediction_id"]) for row in visible + hidden]
    assert sorted(ids) == list(range(1, 512 + 1026 + 1))
    assert ids == [int(row["prediction_id"]) for row in asked]


def test_the_study_is_read_whole_and_visits_are_in_order(archives):
    patients = read_study(archives)
    assert len(patients) == 312
    assert sum(map(len, patients.values())) == 1945
    for patient in patients.values():
        days = [visit.day for visit in patient]
        assert days[0] == 0
        assert days == sorted({*days})


def test_a_forecast_is_asked_where_a_visit_lies_within_the_tolerance():
    patient = [
        visit_on(1, 0, sgot="100"),
        visit_on(2, 272, sgot="110"),
        visit_on(3, 460, sgot="120"),
        visit_on(4, 700, platelets="200"),
    ]
    asked = [f[1:] for f in forecasts(7, patient, patient[0])]
    assert asked == [
        (1, "sgot", 0, "100"),
        (1, "sgot", 6, "110"),
        (1, "platelets", 24, "200"),
    ]


def test_what_is_known_at_a_visit_holds_no_later_visit_and_none_of_its_targets():
    patient = [visit_on(n, 100 * n, sgot="50", albumin="3") for n in range(1, 5)]
    known = known_at(patient, patient[2])
    assert known[:2] == patient[:2]
    assert [visit.cells["sgot"] for visit in known] == ["50", "50", ""]
    assert known[2].cells["albumin"] == "3"
