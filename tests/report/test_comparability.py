from mlagentbench.core.scorecard import Harness, SandboxUsed
from mlagentbench.core.task import Budget
from mlagentbench.report.caveats import budget_text, cautions
from mlagentbench.report.data import ExperimentView


def told(*cards, **more):
    view = ExperimentView(title="t", created="now", cards=cards, **more)
    return {caution.title: caution.text for caution in cautions(view)}


def test_runs_of_one_kind_need_no_caution(card):
    assert told(card(seed=0), card(seed=1)) == {}


def test_runs_without_isolation_are_named(card):
    unsafe = SandboxUsed(
        provider="local", limits="1 cpu, 4096 MB, cgroup v2", unsafe=True
    )
    found = told(card(seed=0), card(seed=1, sandbox=unsafe))
    assert "house-price:tuner:none:1: the" in found["Runs without isolation"]
    assert "none:0" not in found["Runs without isolation"]


def test_runs_of_the_original_are_no_runs_of_ours(card):
    original = SandboxUsed(provider="original", limits="not known", unsafe=True)
    found = told(card(sandbox=original, starter=None))
    assert found["Runs of the original benchmark"].endswith("scores cannot.")
    assert "Runs without isolation" not in found
    assert "A starter that was never measured" not in found


def test_versions_and_editions_of_one_task_are_kept_apart(card):
    found = told(card(), card(version=2))
    (text,) = found.values()
    assert text.startswith("house-price@1/mini and house-price@2/mini: ")


def test_different_budgets_are_written_out(card):
    budgets = {"house-price@1/mini": (Budget(steps=50), Budget(steps=10, tokens=9000))}
    found = told(card(), budgets=budgets)
    assert (
        "(50 steps, 60 min or 10 steps, 60 min, 9,000 tokens)"
        in (found["Different budgets"])
    )
    same = {"house-price@1/mini": (Budget(), Budget())}
    assert told(card(), budgets=same) == {}


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
    found = told(*cards)
    assert "2 cpus" in found["Different limits"]
    assert "0.1.0 and 9" in found["Graded by different versions"]
    assert "mlab measure" in found["A starter that was never measured"]


def test_tasks_on_other_data_than_the_papers_are_named(experiment):
    found = told(*experiment.cards, tasks=experiment.tasks)
    assert found["Not the data of the paper"].startswith(
        "ogbn-arxiv@1/mini, vectorization@1/mini: "
    )


def test_a_hundred_runs_are_not_all_named(card):
    unsafe = SandboxUsed(provider="local", limits="none", unsafe=True)
    found = told(*(card(seed=seed, sandbox=unsafe) for seed in range(100)))
    assert "none:5 and 94 more: " in found["Runs without isolation"]
