import pytest

from mlagentbench.core.scorecard import Finding, Mark, Opinion, ProcessCheck
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Measurement, Seconds, Trace
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.findings import finding_rows, opinion_row
from mlagentbench.report.number_format import allowance
from mlagentbench.report.run_rows import fold
from mlagentbench.report.run_steps import experiments, plan_row

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


def trials(*steps, room=100_000, direction=Direction.LOWER):
    return experiments(Trace(run="r", steps=steps), "USD", direction, room=room)


def test_an_experiment_says_what_was_changed_since_the_last(wrote, ran):
    found = trials(
        wrote(1, "a = 1\nb = 2"), ran(2, 30.0), wrote(3, "a = 1\nb = 5"), ran(4), ran(5)
    )
    assert [row.changed for row in found.rows] == [
        "train.py written, 2 lines",
        "train.py +1 -1: b = 5",
        "nothing",
    ]
    assert [row.validation for row in found.rows] == ["30.00 USD", "", ""]
    assert {row.ran for row in found.rows} == {"train.py"}


def test_an_edit_by_a_model_is_read_from_the_difference_it_was_answered_with(step, ran):
    told = (
        "x.py was written. The difference to x.py:\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b"
    )
    edit = step(
        *("r", 1), action="Edit Script (AI)", seconds=Seconds(), observation=told,
        input={"script_name": "x.py", "save_name": "x.py", "edit_instruction": "b!"},
    )  # fmt: skip
    assert trials(edit, ran(2)).rows[0].changed == "x.py +1 -1: b"


def test_an_edit_that_failed_changed_nothing(wrote, ran):
    found = trials(wrote(1, "a", ok=False), ran(2))
    assert found.rows[0].changed == "nothing"


def test_after_an_edit_of_unknown_outcome_a_file_is_not_compared(step, wrote, ran):
    undone = step(
        *("r", 2), action="Undo Edit Script", input={"script_name": "train.py"},
        seconds=Seconds(), observation="done",
    )  # fmt: skip
    found = trials(wrote(1, "a"), undone, wrote(3, "b"), ran(4))
    assert found.rows[0].changed == (
        "train.py written, 1 line; train.py: Undo Edit Script; train.py written, 1 line"
    )


@pytest.mark.parametrize(
    ("direction", "best"), [(Direction.LOWER, 2), (Direction.HIGHER, 3)]
)
def test_the_best_measurement_is_marked_by_the_metrics_direction(ran, direction, best):
    found = trials(
        ran(1), ran(2, 1.0), ran(3, 9.0), ran(4, float("nan")), direction=direction
    )
    assert [row.number for row in found.rows if row.best] == [best]


def test_an_execution_that_failed_says_how(ran):
    (row,) = trials(ran(1, ok=False, error="time_out")).rows
    assert row.failed == "time out"


def test_without_room_for_all_the_best_execution_is_kept(ran):
    steps = [ran(number, float(number != 30)) for number in range(1, 51)]
    found = trials(*steps, room=1_000)
    assert found.total == 50
    assert 2 <= len(found.rows) < 10
    assert 30 in [row.number for row in found.rows]


def test_the_last_plan_is_shown_with_how_it_changed(step):
    plans = ["do a", "do a", "do a\ndo b", "do b"]
    steps = tuple(
        step("r", number, fields={PLAN: text}) for number, text in enumerate(plans, 1)
    )
    row = plan_row(Trace(run="r", steps=steps), room=1_000)
    assert row.text == "do b"
    assert row.history == (
        "Written at step 1, changed 2 times: at step 3 (+1 -0 lines), 4 (+0 -1 lines)."
    )


def test_a_plan_that_never_changed_and_no_plan_are_told_apart(step):
    once = Trace(run="r", steps=(step("r", 3, fields={"Plan": "all"}),))
    assert plan_row(once, room=100).history == "Written at step 3, never changed."
    other = Trace(run="r", steps=(step("r", fields={"Thought": "all"}),))
    assert plan_row(other, room=100) is None


def test_a_plan_rewritten_at_every_step_names_the_last_changes_only(step):
    steps = tuple(step("r", n, fields={PLAN: str(n)}) for n in range(1, 51))
    history = plan_row(Trace(run="r", steps=steps), room=100).history
    assert "changed 49 times: the last at step 43 (" in history


def check(count, *, quote="val 0.93", steps=(2,)):
    finding = Finding(steps=steps, quote=quote, why="Nothing says so.")
    return ProcessCheck(value=count, evidence=(finding,) * count)


def test_findings_are_written_with_their_quotes_the_most_frequent_first(card):
    process = {"loops": check(1), "claims_without_evidence": check(3), "none": check(0)}
    rows = finding_rows(card(process=process), room=10_000)
    assert [(row.check, row.times) for row in rows] == [
        ("claims without evidence", 3),
        ("loops", 1),
    ]
    assert rows[0].evidence[0].quote == "val 0.93"
    assert rows[0].evidence[0].steps == (2,)


def test_with_little_room_every_check_still_shows_some_evidence(card):
    process = {f"check_{n}": check(5, quote="<" * 5_000) for n in range(3)}
    rows = finding_rows(card(process=process), room=3 * 240)
    assert [len(row.evidence) for row in rows] == [1, 1, 1]
    assert all(len(row.evidence[0].quote) < 100 for row in rows)


def test_a_finding_over_hundreds_of_steps_names_the_first(card):
    long = check(1, steps=tuple(range(1, 301)))
    (row,) = finding_rows(card(process={"loops": long}), room=1_000)
    assert len(row.evidence[0].steps) == 12
    assert row.evidence[0].more_steps == 288


def test_an_opinion_says_how_far_it_can_be_trusted():
    opinion = Opinion(
        model="example/judge",
        marks={"plan_quality": Mark(median=3.5, votes=(3, 4), quote="It has a plan.")},
        agrees_with_itself=1.0,
        agrees_with_rules=0.5,
        unreadable=1,
        cost_usd=0.2,
    )
    row = opinion_row(opinion, room=1_000)
    assert (row.marks[0].criterion, row.marks[0].median) == ("plan quality", "3.5")
    assert row.marks[0].votes == "3, 4"
    assert row.agreement == (
        "Its votes agree with each other in 100 %. It agrees with the checks in 50 %."
        " 1 votes could not be read. It cost $0.20"
    )
    assert opinion_row(None, room=1_000) is None


def test_a_fold_says_what_it_has_no_room_for(card, ran):
    run = card(process={"loops": check(1, steps=(7,))})
    steps = tuple(ran(number, 1.0) for number in range(1, 51))
    trace = Trace(run=run.run, steps=steps)
    view = ExperimentView(title="t", created="now", cards=(run,), traces=(trace,))
    large, small = (fold(view, run, allowance(count)) for count in (1, 800))
    assert large.left_out == ""
    assert len(large.steps) == 50
    assert "of 50 steps and" in small.left_out
    assert small.left_out.endswith("of 50 executions")
    assert 7 in small.shown
