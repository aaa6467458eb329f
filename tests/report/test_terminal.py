import pytest

from mlagentbench.core.scorecard import SandboxUsed, Starter
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.statistics.compare import AgentRuns, compare
from mlagentbench.report.data import TaskFacts
from mlagentbench.report.terminal import (
    failure_lines,
    summary_lines,
    task_rows,
    verdict,
    written,
)


@pytest.fixture
def lines_of(card):
    facts = TaskFacts(
        name="house-price@1/mini", title="Houses", metric="MAE", direction="lower",
        unit="USD", starter=card().starter,
    )  # fmt: skip
    return lambda **changes: summary_lines(card(**changes), facts)


def test_a_finished_run_is_summed_up_in_six_lines(lines_of):
    assert lines_of() == [
        "house-price:tuner:none:0",
        "  starter      21,043 USD (MAE, lower is better)",
        "  test score   17,901 USD",
        "  improvement  +14.9 %",
        "  success      yes (significant: outside the starter's 95 % prediction"
        " interval)",
        "  ending       submitted (3 steps, 1 min 15 s)",
    ]


def test_a_failed_submission_says_why(lines_of):
    lines = lines_of(
        score=None,
        improvement=None,
        success=False,
        submission_error="12 ids are missing\nsecond line",
    )
    assert lines[2] == (
        "  test score   none: 12 ids are missing ... (11 more characters)"
    )
    assert lines[3:5] == ["  improvement  none", "  success      no"]


def test_a_broken_run_is_not_counted_and_says_why(lines_of):
    lines = lines_of(ending=Ending.BROKEN, reason="disk full", score=None, steps=1)
    assert lines[2] == "  test score   none"
    assert lines[4] == "  success      not counted"
    assert lines[5] == "  ending       broken: disk full (1 step, 1 min 15 s)"


def test_an_unmeasured_starter_says_how_to_measure_it(lines_of):
    expected = "  starter      not measured: run `mlab measure house-price`"
    assert lines_of(starter=None)[1] == expected


def test_an_unsafe_run_says_so(lines_of):
    unsafe = SandboxUsed(provider="local", limits="none", unsafe=True)
    assert lines_of(sandbox=unsafe)[-1].startswith("  unsafe")


def test_luck_is_named(card):
    assert verdict(card(significant=False)) == (
        "yes (not significant: within the starter's 95 % prediction interval)"
    )


def test_terminal_escapes_from_agents_do_nothing(lines_of):
    lines = lines_of(ending=Ending.CRASHED, reason="\x1b]0;owned\x07\x1b[2J")
    assert not any("\x1b" in line or "\x07" in line for line in lines)


STARTER = Starter(mean=1.0, sd=0.0, n=8)


def side(card, name, gains):
    """Make a side with so many gains by task."""
    cards = [
        card(
            task=task, run=f"{task}:{name}:none:{seed}", agent=name, seed=seed,
            improvement=gain, score=1 + gain, success=gain > 0.1, starter=STARTER,
            ending=Ending.SUBMITTED, direction=Direction.HIGHER,
        )
        for task, runs in gains.items()
        for seed, gain in enumerate(runs)
    ]  # fmt: skip
    return AgentRuns(name=name, cards=tuple(cards))


def everywhere(runs, tasks=8):
    return {f"t{task}": runs for task in range(tasks)}


@pytest.fixture
def words(card):
    """Compare agents with these improvements by task, in words."""
    return lambda a, b: written(compare(side(card, "a", a), side(card, "b", b)))


@pytest.mark.parametrize(
    ("runs", "tasks", "parts"),
    [
        (8, 8, ["8 runs separate them at 5 % over tasks: b is ahead",
                "On these 8 tasks b is significantly ahead (-100."]),
        (8, 1, ["One task allows no conclusion about other tasks. On this task b is"]),
        (1, 3, ["1 run does not separate them at 5 % over tasks",
                "differ on 3 of 3 tasks; no test over tasks can reach 5 % with fewer"]),
        (1, 9, ["1 run separates them at 5 %"]),
    ],
)  # fmt: skip
def test_verdict_depends_on_runs_and_tasks(words, runs, tasks, parts):
    said = words(everywhere([0.0] * runs, tasks), everywhere([0.5] * runs, tasks))
    assert said.verdict.startswith(parts[0])
    assert all(part in said.verdict for part in parts)
    assert f"{'1 run' if runs == 1 else '8 runs'} on" in said.detectable


def test_agents_without_a_common_task_are_not_compared(words):
    said = words({"x": [0.1]}, {"y": [0.1]})
    assert said.verdict.startswith("Nothing can be compared")
    assert said.detectable == ""
    assert said.measures == ()
    assert len(said.remarks) == 2


def test_a_measure_of_single_runs_on_one_task_has_no_interval(words):
    said = words({"x": [0.3]}, {"x": [0.2]}).measures
    assert said[3] == "improvement_all: A 30.0 %, B 20.0 %, difference +10.0 points"
    assert said[4] == "  on these tasks: no interval: one run each, p = 1.000"


def test_what_was_left_out_or_lost_is_told(card):
    a = side(card, "a", {"x": [0.3]})
    broken = a.cards[0].model_copy(update={"ending": Ending.BROKEN, "run": "other"})
    a = a.model_copy(update={"cards": (*a.cards, broken)})
    other = side(card, "b", {"x": [0.2], "y": [0.1]})
    moved = other.cards[0].model_copy(update={"starter": Starter(mean=2, sd=0, n=1)})
    found = compare(a, other.model_copy(update={"cards": (moved, other.cards[1])}))
    said = written(found).remarks
    name = found.tasks[0].task
    assert f"left out {found.left_out[0].task}: a has no run of it" in said
    assert "A: runs that do not count: 1 broken" in said
    assert f"starter scores differ between runs: {name}" in said


def test_a_row_has_both_sides_of_a_task(card):
    a, b = side(card, "a", {"x": [0.3, 0.0]}), side(card, "b", {"x": [0.2]})
    [row] = task_rows(compare(a, b))
    assert row[1:] == ["2, 1", "50.0 %", "100.0 %", "-50.0", "+15.0 %", "+20.0 %"]


def test_runs_that_failed_for_one_reason_share_a_line(card):
    cards = [
        card(seed=0, run="a", ending=Ending.BROKEN, reason="disk full\nmore"),
        card(seed=1, run="b", ending=Ending.CRASHED, reason="ValueError: x"),
        card(seed=2, run="c", ending=Ending.CRASHED, reason="ValueError: x"),
        card(seed=3, run="d"),
    ]
    broken, crashed = failure_lines(cards)
    assert broken.startswith("a broken: disk full")
    assert crashed == "2 runs crashed: ValueError: x"
