import pytest

from mlagentbench.core.scorecard import Finding, ProcessCheck
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Measurement, Seconds, Trace
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.number_format import Caps
from mlagentbench.report.run_rows import run_rows
from mlagentbench.report.run_steps import (
    executions,
    failure,
    observation,
    plan_of,
    shown_steps,
    texts,
)

PLAN = "Research Plan and Status"


@pytest.fixture
def wrote(step):
    def make(number, content, **changes):
        given = {"file_name": "train.py", "content": content}
        quick = Seconds(harness=0.1)
        return step(
            "r", number, action="Write File", input=given, seconds=quick, **changes
        )

    return make


@pytest.fixture
def ran(step):
    def make(number, value=None, **changes):
        measured = None if value is None else Measurement(metric="MAE", value=value)
        given = {"script_name": "train.py"}
        return step(
            *("r", number), action="Execute Script", input=given, validation=measured,
            **changes,
        )  # fmt: skip

    return make


def executions_of(*steps, count=100, direction=Direction.LOWER):
    return executions(Trace(run="r", steps=steps), direction, count)


def shown(*steps, count=100, **more):
    return shown_steps(Trace(run="r", steps=steps), count, **more)


def test_an_experiment_says_what_was_changed_since_the_last(wrote, ran):
    found = executions_of(
        wrote(1, "a = 1\nb = 2"), ran(2, 30.0), wrote(3, "a = 1\nb = 5"), ran(4), ran(5)
    )
    assert [row.changed for row in found] == [
        "train.py written, 2 lines",
        "train.py +1 -1: b = 5",
        "nothing",
    ]
    assert [row.step.step for row in found] == [2, 4, 5]


def test_an_edit_by_a_model_is_read_from_the_difference_it_was_answered_with(step, ran):
    told = (
        "x.py was written. The difference to x.py:\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b"
    )
    edit = step(
        *("r", 1), action="Edit Script (AI)", seconds=Seconds(), observation=told,
        input={"script_name": "x.py", "save_name": "x.py", "edit_instruction": "b!"},
    )  # fmt: skip
    assert executions_of(edit, ran(2))[0].changed == "x.py +1 -1: b"


def test_an_edit_that_failed_changed_nothing(wrote, ran):
    found = executions_of(wrote(1, "a", ok=False), ran(2))
    assert found[0].changed == "nothing"


def test_after_an_edit_of_unknown_outcome_a_file_is_not_compared(step, wrote, ran):
    undone = step(
        *("r", 2), action="Undo Edit Script", input={"script_name": "train.py"},
        seconds=Seconds(), observation="done",
    )  # fmt: skip
    found = executions_of(wrote(1, "a"), undone, wrote(3, "b"), ran(4))
    assert found[0].changed == (
        "train.py written, 1 line; train.py: Undo Edit Script; train.py written, 1 line"
    )


@pytest.mark.parametrize(
    ("direction", "best"), [(Direction.LOWER, 2), (Direction.HIGHER, 3)]
)
def test_the_best_measurement_is_marked_by_the_metrics_direction(ran, direction, best):
    found = executions_of(
        ran(1), ran(2, 1.0), ran(3, 9.0), ran(4, float("nan")), direction=direction
    )
    assert [row.step.step for row in found if row.best] == [best]


def test_measurements_within_the_noise_of_the_best_are_ties(ran):
    def measured(number, value, low, high):
        score = Measurement(metric="mae", value=value, low=low, high=high)
        return ran(number).model_copy(update={"validation": score})

    found = executions_of(
        measured(1, 9.0, 8.0, 10.0),
        measured(2, 5.0, 4.0, 6.0),
        measured(3, 5.9, 5.5, 6.5),
        measured(4, 6.5, 4.9, 8.0),
        ran(5, 5.5),
        ran(6),
        direction=Direction.LOWER,
    )
    assert [row.step.step for row in found if row.tie] == [3, 4, 5]


def test_an_execution_that_failed_says_how(ran):
    assert failure(ran(1, ok=False, error="time_out")) == "time out"
    assert failure(ran(1)) is None


def test_without_room_for_all_the_best_execution_is_kept(ran):
    steps = [ran(number, float(number != 30)) for number in range(1, 51)]
    found = executions_of(*steps, count=3)
    assert [row.step.step for row in found] == [1, 2, 30]


def test_the_last_plan_is_shown_with_how_it_changed(step):
    plans = ["do a", "do a", "do a\ndo b", "do b"]
    steps = tuple(
        step("r", number, fields={PLAN: text}) for number, text in enumerate(plans, 1)
    )
    row = plan_of(Trace(run="r", steps=steps))
    assert row.text == "do b"
    assert row.history == (
        "Written at step 1, changed 2 times: at step 3 (+1 -0 lines), 4 (+0 -1 lines)."
    )


def test_a_plan_that_never_changed_and_no_plan_are_told_apart(step):
    once = Trace(run="r", steps=(step("r", 3, fields={"Plan": "all"}),))
    assert plan_of(once).history == "Written at step 3, never changed."
    other = Trace(run="r", steps=(step("r", fields={"Thought": "all"}),))
    assert plan_of(other) is None


def test_a_plan_rewritten_at_every_step_names_the_last_changes_only(step):
    steps = tuple(step("r", n, fields={PLAN: str(n)}) for n in range(1, 51))
    history = plan_of(Trace(run="r", steps=steps)).history
    assert "changed 49 times: the last at step 43 (" in history


def test_a_step_is_cut_to_its_first_lines(step):
    long = "\n".join(str(number) for number in range(1000))
    given = dict(texts({"content": long, "lines": [1, 2]}, 4_000))
    assert given["content"].startswith("0\n1\n2\n")
    assert "\n11 ... (" in given["content"]
    assert given["lines"] == "[1, 2]"
    assert "\n19 ... (" in observation(step("r", observation=long), 4_000)


def test_a_failed_step_shows_how_its_output_ends(step):
    trouble = "\n".join(["noise"] * 1000 + ["ValueError: no such column"])
    shown = observation(step("r", ok=False, observation=trouble), 4_000)
    assert shown.endswith("ValueError: no such column")
    assert shown.startswith("(5,")


def test_a_step_with_endless_inputs_stays_short():
    found = texts({f"k{n}" * 1000: "v" * 1000 for n in range(1000)}, 800)
    assert len(found) == 8
    assert all(len(label) < 100 and len(text) <= 100 for label, text in found)


def test_a_file_that_is_written_again_is_shown_by_its_difference(wrote):
    first, second, third = shown(
        wrote(1, "a = 1\nb = 2\n"),
        wrote(2, "a = 1\nb = 3\n"),
        wrote(3, "a = 1\nb = 3\n"),
    )
    assert first.input["content"] == "a = 1\nb = 2\n"
    assert "-b = 2\n+b = 3" in second.input["content"]
    assert third.input["content"] == "as before"


def test_if_not_all_steps_are_shown_the_telling_ones_stay_in_order(step):
    steps = [step("r", number) for number in range(1, 41)]
    steps[9] = step("r", 10, ok=False)
    steps[19] = step("r", 20, validation=Measurement(metric="MAE", value=1.0))
    found = shown(*steps, count=5, telling={5})
    assert [one.step for one in found] == [1, 5, 10, 20, 40]


def test_details_name_the_lists_that_are_not_complete(card, ran):
    finding = Finding(steps=(7,), quote="q", why="w")
    run = card(process={"loops": ProcessCheck(value=1, evidence=(finding,))})
    steps = tuple(ran(number, 1.0) for number in range(1, 51))
    trace = Trace(run=run.run, steps=steps)
    view = ExperimentView(title="t", created="now", cards=(run,), traces=(trace,))
    large, small = (
        run_rows(view, Caps(items=items, text=100))[0].details for items in (50, 4)
    )
    assert large.left_out == ""
    assert len(large.steps) == 50
    assert small.left_out == "4 of 50 steps and 4 of 50 executions"
    assert 7 in small.shown
