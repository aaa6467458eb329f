import pytest

from mlagentbench.core.scorecard import SandboxUsed, Starter
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.statistics.compare import AgentRuns, LeftOut, compare
from mlagentbench.evaluation.statistics.intervals import Estimate
from mlagentbench.evaluation.statistics.significance import contrast_means
from mlagentbench.report.data import ExperimentView, TaskFacts
from mlagentbench.report.terminal import (
    comparison_table,
    failure_lines,
    outcome_rows,
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


def test_a_newer_scorecard_leads_with_the_normalised_score(lines_of):
    lines = lines_of(
        tuned=Starter(mean=19000.0, sd=100.0, n=4),
        reference=Starter(mean=15980.0, sd=90.0, n=8),
        score_ci=(17500.0, 18300.0),
        improvement_ci=(0.125, 0.171),
        normalised=0.6207,
        level="silver",
    )
    assert lines[1:] == [
        "  starter      21,043 USD (MAE, lower is better)",
        "  tuned        19,000 USD (tuning baseline)",
        "  reference    15,980 USD",
        "  test score   17,901 USD (95 % interval 17,500 to 18,300)",
        "  normalised   0.62 (0 = starter, 1 = reference)",
        "  level        silver",
        "  improvement  +14.9 % (95 % interval +12.5 to +17.1 %)",
        "  success      yes (significant: paired bootstrap against the starter)",
        "  ending       submitted (3 steps, 1 min 15 s)",
    ]


def test_a_level_of_none_is_a_result(lines_of):
    lines = lines_of(normalised=0.0, level="none")
    assert "  normalised   0.00 (0 = starter, 1 = reference)" in lines
    assert "  level        none" in lines


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


def with_gap(found, gaps):
    """Add the gap closed, as the comparison of newer scorecards has it."""
    means = [[Estimate(value=each, low=each, high=each, n=1) for each in gaps]]
    pairs = [
        pair.model_copy(update={"gap_closed": tuple(mean)})
        for pair, mean in zip(found.tasks, means, strict=True)
    ]
    contrast = contrast_means({"x": [gaps[0]]}, {"x": [gaps[1]]})
    return found.model_copy(update={"tasks": tuple(pairs), "gap_closed": contrast})


def test_a_comparison_leads_with_the_gap_closed(card):
    a, b = side(card, "a", {"x": [0.3]}), side(card, "b", {"x": [0.2]})
    found = with_gap(compare(a, b), (0.75, -0.25))
    columns, [row] = comparison_table(found)
    assert columns[2:7] == [
        *("gap closed A", "gap closed B", "A - B", "success A", "success B")
    ]
    assert row[2:] == [
        *("75.0 %", "-25.0 %", "+100.0", "100.0 %", "100.0 %", "+30.0 %", "+20.0 %")
    ]
    said = written(found)
    assert said.verdict.startswith("By gap_closed: One task allows no conclusion")
    assert (
        said.measures[0] == "gap_closed: A 75.0 %, B -25.0 %, difference +100.0 points"
    )
    assert said.measures[3].startswith("success: ")


def test_tasks_without_a_known_gap_are_named(card):
    a, b = side(card, "a", {"x": [0.3]}), side(card, "b", {"x": [0.2]})
    found = with_gap(compare(a, b), (0.75, 0.25))
    nothing = Estimate(value=0.0, low=0.0, high=0.0, n=0)
    pair = found.tasks[0].model_copy(update={"gap_closed": (nothing, nothing)})
    unknown = LeftOut(task="x@1/mini", why="no reference")
    more = {"tasks": (pair,), "gap_unknown": (unknown,), "paired_tasks": ("y@1/mini",)}
    found = found.model_copy(update=more)
    _, [row] = comparison_table(found)
    assert row[2:5] == ["none", "none", "none"]
    said = written(found).remarks
    assert "without gap_closed x@1/mini: no reference" in said
    assert "gap_closed includes the noise of the test set: y@1/mini" in said


def test_older_scorecards_are_compared_by_success(card):
    a, b = side(card, "a", {"x": [0.3]}), side(card, "b", {"x": [0.2]})
    found = compare(a, b).model_copy(update={"gap_closed": None})
    columns, _ = comparison_table(found)
    assert columns[2] == "success A"
    assert written(found).measures[0].startswith("success: ")


def outcomes_of(*cards):
    return outcome_rows(ExperimentView(title="", created="", cards=cards))


def test_many_runs_have_a_mean_normalised_score_and_levels(card):
    [row] = outcomes_of(
        card(normalised=1.25, level="gold"),
        card(seed=1, normalised=0.25, level="bronze"),
        card(seed=2, normalised=0.0, level="none"),
    )
    assert row[:6] == [
        *("house-price", "tuner", "3", "0.50", "1 gold, 1 bronze, 1 none", "3 of 3")
    ]


def test_runs_without_a_normalised_score_are_marked_in_the_table(card):
    [row] = outcomes_of(card(normalised=0.5), card(seed=1))
    assert row[3:5] == ["0.50 (1 without)", "not known"]
    [old] = outcomes_of(card(), card(seed=1))
    assert old[3:5] == ["none", "not known"]


def test_versions_of_a_task_have_rows_with_their_full_names(card):
    rows = outcomes_of(card(version=1), card(version=2), card(task="imdb"))
    assert [row[0] for row in rows] == [
        *("house-price@1/mini", "house-price@2/mini", "imdb")
    ]


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
