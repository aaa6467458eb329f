from mlagentbench.core.scorecard import Harness, RunId, SandboxUsed
from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Ending, Trace
from mlagentbench.report.caveats import accounts, budget_text, cautions
from mlagentbench.report.data import ExperimentView, LeftOut
from mlagentbench.report.number_format import caps
from mlagentbench.report.run_rows import run_rows, ungraded_rows


def account(*cards, **more):
    view = ExperimentView(title="t", created="now", cards=cards, **more)
    return accounts(view, run_rows(view, caps(1)), ungraded_rows(view, caps(1)))


def asked(count):
    runs = (
        RunId(task="house-price", agent="tuner", model="none", seed=seed)
        for seed in range(count)
    )
    return {str(run): run for run in runs}


def test_every_run_that_was_asked_for_is_in_exactly_one_column(card, step):
    cards = (
        card(seed=0),
        card(seed=1, ending=Ending.BROKEN, reason="disk full"),
        card(seed=2, ending=Ending.OUT_OF_TIME, score=None),
    )
    left = Trace(run="house-price:tuner:none:3", steps=(step("x"),))
    found = account(*cards, asked=asked(5), traces=(left,))
    assert found.columns == ("submitted", "out of time", "broken", "no scorecard")
    assert found.uncounted == ("broken", "no scorecard")
    assert found.totals == (1, 1, 1, 2)
    assert found.runs == found.planned == 5


def test_agents_are_counted_apart_and_add_up(card):
    cards = [card(seed=seed) for seed in range(3)]
    cards += [card(agent="research", model="m", ending=Ending.CRASHED)]
    found = account(*cards)
    assert [(line.who, line.counts, line.total) for line in found.agents] == [
        ("tuner", (3, 0), 3),
        ("research / m", (0, 1), 1),
    ]
    assert found.planned is None


def test_a_repeated_run_is_counted_once_and_its_first_attempt_is_named(card):
    broken = card(ending=Ending.BROKEN, reason="disk full", attempt=1)
    found = account(broken, card(attempt=2), asked=asked(1))
    assert found.runs == 1
    assert found.totals == (1,)
    (excluded,) = found.excluded
    assert (
        excluded.why == "disk full; the run was repeated, and its last attempt counts"
    )


def test_each_excluded_run_is_named_with_its_reason(card):
    broken = card(seed=1, ending=Ending.BROKEN, reason="disk full")
    twice = LeftOut(run="x", why="b holds it too")
    found = account(broken, asked=asked(3), left_out=(twice,))
    assert [(one.run, one.kind, one.why) for one in found.excluded] == [
        ("house-price:tuner:none:1", "broken", "disk full"),
        ("house-price:tuner:none:0", "no scorecard", "no steps recorded"),
        ("house-price:tuner:none:2", "no scorecard", "no steps recorded"),
        ("x", "left out", "b holds it too"),
    ]


def test_counted_runs_without_a_score_are_listed(card):
    found = account(card(score=None, submission_error="no file"), card(seed=1))
    assert [(one.run, one.why) for one in found.failed] == [
        ("house-price:tuner:none:0", "no file")
    ]


def test_nothing_at_all_is_counted_as_nothing():
    found = account()
    assert (found.columns, found.agents, found.runs) == ((), (), 0)


def cautions_of(*cards, **more):
    view = ExperimentView(title="t", created="now", cards=cards, **more)
    return {caution.title: caution.text for caution in cautions(view)}


def test_runs_without_isolation_are_named(card):
    unsafe = SandboxUsed(provider="local", limits="none", unsafe=True)
    found = cautions_of(card(seed=0), card(seed=1, sandbox=unsafe))
    assert "house-price:tuner:none:1: the" in found["Runs without isolation"]
    assert "none:0" not in found["Runs without isolation"]
    found = cautions_of(*(card(seed=seed, sandbox=unsafe) for seed in range(100)))
    assert "none:5 and 94 more: " in found["Runs without isolation"]


def test_runs_of_the_original_are_no_runs_of_ours(card):
    original = SandboxUsed(provider="original", limits="not known", unsafe=True)
    found = cautions_of(card(sandbox=original, starter=None))
    assert found["Runs of the original benchmark"].endswith("not the scores.")
    assert "Runs without isolation" not in found
    assert "A starter that was never measured" not in found


def test_versions_and_editions_of_one_task_are_kept_apart(card):
    found = cautions_of(card(), card(version=2))
    (text,) = found.values()
    assert text.startswith("house-price@1/mini and house-price@2/mini: ")


def test_different_budgets_are_written_out(card):
    budgets = {"house-price@1/mini": (Budget(steps=50), Budget(steps=10, tokens=9000))}
    found = cautions_of(card(), budgets=budgets)
    assert (
        "(50 steps, 60 min or 10 steps, 60 min, 9,000 tokens)"
        in (found["Different budgets"])
    )
    same = {"house-price@1/mini": (Budget(), Budget())}
    assert cautions_of(card(seed=0), card(seed=1), budgets=same) == {}


def test_a_budget_of_money_is_written_in_dollars():
    assert budget_text(Budget(cost_usd=2.5)) == "50 steps, 60 min, $2.5"


def test_other_limits_other_harnesses_and_missing_starters_are_told(card):
    cards = [
        card(seed=0),
        card(
            seed=1,
            sandbox=SandboxUsed(provider="bwrap", limits="2 cpus"),
            harness=Harness(version="9", inspect_ai="1"),
            starter=None,
        ),
    ]
    found = cautions_of(*cards)
    assert "2 cpus" in found["Different limits"]
    assert "0.1.0 and 9" in found["Graded by different versions"]
    assert "mlab measure" in found["A starter that was never measured"]


def test_tasks_on_other_data_than_the_papers_are_named(experiment):
    found = cautions_of(*experiment.cards, tasks=experiment.tasks)
    assert found["Not the data of the paper"].startswith(
        "ogbn-arxiv@1/mini, vectorization@1/mini: "
    )
