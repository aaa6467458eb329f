"""Checks of results and of the end of the budget."""

import pytest

from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Ending, Seconds, Spent

BASELINE_NEVER_MEASURED = {
    "run first": (lambda r: r.executes().writes().executes(), []),
    "run failed": (lambda r: r.fails().writes(), [2]),
    "measured command": (lambda r: r.commands("bash all.sh", score=3.0).writes(), []),
    "work on a copy": (
        lambda r: r.writes("a", "mine.py").executes("mine.py").executes("train.py")
        .writes(), []),
    "written as read": (
        lambda r: r.reads(seen="code").writes("code").executes().writes("new"), []),
    "never run": (lambda r: r.reads().answers(), [2]),
    "no steps": (lambda r: r, []),
}  # fmt: skip
PLAN_DRIFT = {
    "file written later": (
        lambda r: r.says("I will write ensemble.py now.").reads().executes()
        .reads("a").writes("x", "ensemble.py").answers(), []),
    "item of a plan": (
        lambda r: r.says("1. Run the baseline\n2. Write features.py\n3. Submit",
        "Research Plan and Status").executes().answers(), [1]),
    "plan done": (lambda r: r.says("1. Run train.py", "Plan").executes().answers(), []),
    "named action never taken": (
        lambda r: r.says("I will use Check Submission first.").answers(), [1]),
    "named action taken": (
        lambda r: r.says("I will use Check Submission first.").does("Check Submission")
        .answers(), []),
    "not executed soon": (
        lambda r: r.says("I will now execute the script.").reads("0.txt")
        .reads("1.txt").reads("2.txt"), [1]),
    "executed soon": (lambda r: r.says("Let me run the script.").executes(), []),
    "reported once": (
        lambda r: r.says("I will write b.py.").says("I will write b.py.").answers(),
        [1]),
} | {
    text: (lambda r, text=text: r.says(text).reads().reads("a").answers(), [])
    for text in (
        "If that fails I will write fallback.py.", "I will write fallback.py later.",
        "I will use a smaller model.", "I will use a.csv.", "I will read about it.",
        "We could write b.py.",
    )
}  # fmt: skip
WORSE_THAN_BEST = {
    "within noise": (
        lambda r: r.executes(score=80.0).writes().executes(score=81.9).answers(), []),
    "best restored": (
        lambda r: r.executes(score=80.0).writes().executes(score=95.0)
        .does("Restore Workspace", {"step_number": "2"}).answers(), []),
    "unknown step restored": (
        lambda r: r.executes(score=80.0).does("Restore Workspace", {"step_number": "x"})
        .answers(), []),
    "submission written by hand": (
        lambda r: r.executes(score=80.0).writes().executes(score=95.0)
        .writes("Id,x\n", "submission.csv").answers(), []),
    "nothing measured": (lambda r: r.executes().answers(), []),
}  # fmt: skip
WASTED_BUDGET = {
    "ended early": (
        lambda r: r.executes(score=80.0).reads().reads("a").reads("b").answers(), []),
}  # fmt: skip
CASES = [
    pytest.param(check, does, at, id=f"{check}: {name}")
    for check, cases in {
        "baseline_never_measured": BASELINE_NEVER_MEASURED,
        "plan_drift": PLAN_DRIFT,
        "worse_than_best": WORSE_THAN_BEST,
        "wasted_budget": WASTED_BUDGET,
    }.items()
    for name, (does, at) in cases.items()
]


@pytest.mark.parametrize(("check", "does", "at"), CASES)
def test_steps_that_a_check_finds(run, check, does, at):
    assert does(run).at(check) == at


@pytest.mark.parametrize(
    ("last", "changes", "at"),
    [(95.0, {"direction": "higher"}, []), (80.5, {"measured": None}, [4])],
    ids=["higher is better", "starter not measured"],
)
def test_what_is_worse_depends_on_the_task(run, task_with, last, changes, at):
    run.executes(score=80.0).writes().executes(score=last).answers()
    assert run.at("worse_than_best", task=task_with(**changes)) == at


def test_changing_the_script_before_running_it_is_found(run):
    run.reads().writes().executes(score=1.0)
    (finding,) = run.found("baseline_never_measured")
    assert finding.steps == (2,)


def test_the_code_to_be_submitted_counts_as_the_starter(run, code_task):
    run.writes("a", "layer.py").executes()
    assert run.at("baseline_never_measured", task=code_task) == [1]


def test_a_file_that_never_came_is_found(run):
    run.says("I will write ensemble.py now.").executes().reads().answers()
    (finding,) = run.found("plan_drift")
    assert finding.steps == (1,)
    assert "ensemble.py" in finding.why
    assert finding.quote == "I will write ensemble.py now."


def test_a_budget_that_ended_left_no_chance(run):
    run.says("I will write b.py.").reads()
    assert run.at("plan_drift", ending=Ending.OUT_OF_STEPS) == []
    assert run.at("plan_drift", ending=Ending.STOPPED) == [1]


def test_leaving_something_worse_than_the_best_is_found(run):
    run.executes(score=80.0, note="mae=80").writes().executes(score=95.0).answers()
    (finding,) = run.found("worse_than_best")
    assert finding.steps == (4, 1)
    assert "mae=80" in finding.quote
    assert "95" in finding.quote


def test_times_may_differ_more(run, code_task):
    run.executes(score=80.0).writes().executes(score=86.0).answers()
    assert run.at("worse_than_best", task=code_task) == []


def test_a_refused_submission_is_found_with_its_reason(run):
    run.answers()
    (finding,) = run.found("submission", score=None, error="wrong columns")
    assert finding.steps == (1,)
    assert finding.quote == "wrong columns"


def test_a_run_without_steps_may_lack_a_submission_too(run):
    (finding,) = run.found("submission", score=None)
    assert finding.steps == ()
    assert finding.quote == "nothing was submitted"


@pytest.mark.parametrize("ending", [Ending.BROKEN, Ending.INTERRUPTED, None])
def test_a_run_that_does_not_count_owes_no_submission(run, ending):
    assert run.answers().found("submission", score=None, ending=ending) == []


def test_a_scored_submission_is_there(run):
    assert run.answers().found("submission", score=0.0) == []


def spend(run, last):
    """Go through a budget of 30 steps that ends as told."""
    run.executes(score=80.0)
    for number in range(27 - len(run.steps)):
        run.reads(f"{number}.txt")
    for step in last:
        step()


def test_three_last_steps_without_improvement_are_waste(run, task_with):
    spend(run, [run.reads, run.writes, lambda: run.executes(score=90.0)])
    task = task_with(budget=Budget(steps=30))
    (finding,) = run.found("wasted_budget", task=task)
    assert finding.steps[0] == 30
    assert "Execute Script" in finding.quote


def test_an_improvement_in_the_end_is_no_waste(run, task_with):
    spend(run, [run.reads, run.writes, lambda: run.executes(score=70.0)])
    assert run.at("wasted_budget", task=task_with(budget=Budget(steps=30))) == []


def test_putting_the_best_back_is_no_waste(run, task_with):
    spend(run, [run.writes, lambda: run.executes(score=80.0), run.answers])
    assert run.at("wasted_budget", task=task_with(budget=Budget(steps=30))) == []


@pytest.mark.parametrize(
    "budget",
    [Budget(minutes=10), Budget(tokens=700), Budget(cost_usd=7.0)],
    ids=["minutes", "tokens", "dollars"],
)
def test_any_kind_of_budget_can_be_wasted(run, task_with, budget):
    for number in range(4):
        spent = Spent(steps=number, seconds=590, tokens=690, cost=6.9)
        run.reads(f"{number}.txt", spent=spent)
    assert run.at("wasted_budget", task=task_with(budget=budget)) == [4]


def test_one_long_failure_in_the_end_is_waste(run, task_with):
    run.executes(score=80.0, spent=Spent(steps=1, seconds=10))
    run.executes(
        "b.py", ok=False, spent=Spent(steps=2, seconds=599),
        seconds=Seconds(execute=500),
    )  # fmt: skip
    assert run.at("wasted_budget", task=task_with(budget=Budget(minutes=10))) == [2]


def test_waiting_long_for_an_edit_that_fails_in_the_end_is_waste(run, task_with):
    run.executes(score=80.0, spent=Spent(steps=1, seconds=10))
    run.does(
        "Edit Script (AI)", {"save_name": "a.py"}, ok=False,
        spent=Spent(steps=2, seconds=599), seconds=Seconds(model=500),
    )  # fmt: skip
    assert run.at("wasted_budget", task=task_with(budget=Budget(minutes=10))) == [2]


@pytest.mark.parametrize(
    ("ending", "at"),
    [("out_of_time", [1]), ("out_of_tokens", [1]), ("crashed", []), ("submitted", [])],
)
def test_a_budget_used_up_by_what_came_to_no_step_is_wasted(run, task_with, ending, at):
    run.executes(score=80.0, spent=Spent(steps=1, seconds=10))
    task = task_with(budget=Budget(minutes=10))
    assert run.at("wasted_budget", task=task, ending=Ending(ending)) == at


def test_a_run_without_any_step_has_none_to_blame(run):
    assert run.at("wasted_budget", ending=Ending.OUT_OF_TIME) == []


def test_a_budget_that_went_without_any_measurement_is_waste(run, task_with):
    run.reads(spent=Spent(steps=1, seconds=599))
    assert run.at("wasted_budget", task=task_with(budget=Budget(minutes=10))) == [1]


def test_one_late_step_after_a_measured_one_is_no_waste(run, task_with):
    run.executes(score=80.0).reads(spent=Spent(steps=2, seconds=599))
    assert run.at("wasted_budget", task=task_with(budget=Budget(minutes=10))) == []
