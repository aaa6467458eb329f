"""Announcements that were not kept."""

import pytest

from mlagentbench.core.trace import Ending


def test_a_file_that_never_came_is_found(run):
    run.says("I will write ensemble.py now.").executes().reads().answers()
    (finding,) = run.found("plan_drift")
    assert finding.steps == (1,)
    assert "ensemble.py" in finding.why
    assert finding.quote == "I will write ensemble.py now."


def test_a_file_that_came_later_is_none(run):
    run.says("I will write ensemble.py now.").reads().executes()
    run.reads("a").writes("x", "ensemble.py").answers()
    assert run.at("plan_drift") == []


def test_an_item_of_the_plan_that_names_a_file_is_an_announcement(run):
    plan = "1. Run the baseline\n2. Write features.py\n3. Submit"
    run.says(plan, "Research Plan and Status").executes().answers()
    assert run.at("plan_drift") == [1]


def test_a_plan_that_was_done_is_none(run):
    run.says("1. Run train.py", "Plan").executes().answers()
    assert run.at("plan_drift") == []


def test_an_action_called_by_its_name_must_come(run):
    run.says("I will use Check Submission first.").answers()
    assert run.at("plan_drift") == [1]
    run.steps.clear()
    run.says("I will use Check Submission first.").does("Check Submission").answers()
    assert run.at("plan_drift") == []


def test_something_to_be_done_now_must_come_soon(run):
    run.says("I will now execute the script.")
    for number in range(3):
        run.reads(f"{number}.txt")
    assert run.at("plan_drift") == [1]
    run.steps.clear()
    assert run.says("Let me run the script.").executes().at("plan_drift") == []


@pytest.mark.parametrize(
    "text",
    [
        "If that fails I will write fallback.py.",
        "I will write fallback.py later.",
        "I will use a smaller model.",
        "I will read about it.",
        "We could write b.py.",
    ],
)
def test_what_is_uncertain_or_vague_is_no_announcement(run, text):
    assert run.says(text).reads().reads("a").answers().at("plan_drift") == []


def test_it_is_told_once(run):
    run.says("I will write b.py.").says("I will write b.py.").answers()
    assert run.at("plan_drift") == [1]


def test_a_budget_that_ended_left_no_chance(run):
    run.says("I will write b.py.").reads()
    assert run.at("plan_drift", ending=Ending.OUT_OF_STEPS) == []
    assert run.at("plan_drift", ending=Ending.STOPPED) == [1]
