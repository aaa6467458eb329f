"""Records of a made-up experiment: several tasks, agents, seeds and endings."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.support import records

from mlagentbench.core.scorecard import (
    BudgetPoint,
    FailureMode,
    Finding,
    Harness,
    ProcessCheck,
    RunSeconds,
    SandboxUsed,
    Scorecard,
    Starter,
)
from mlagentbench.core.success import SUCCESS_THRESHOLD
from mlagentbench.core.task import DataKind, Direction
from mlagentbench.core.trace import Ending, Measurement, Seconds, Spent, Step, Trace
from mlagentbench.report.data import (
    CodeChanges,
    ExperimentView,
    TaskFacts,
    code_changes,
)

TASKS = (
    TaskFacts(
        name="house-price@1/mini", title="Predict the sale price of houses in Ames",
        metric="MAE", direction=Direction.LOWER, unit="USD", data=DataKind.REAL,
        summary="Ames housing, 1,460 rows, a shuffled seeded split",
        starter=Starter(mean=21043.1, sd=310.5, n=8), reference=15980.0,
    ),
    TaskFacts(
        name="cifar10@1/mini", title="Classify small images", metric="accuracy",
        direction=Direction.HIGHER, data=DataKind.REAL,
        summary="CIFAR-10, a seeded subset of 10,000 images",
        starter=Starter(mean=0.4312, sd=0.0061, n=8), reference=0.6105,
    ),
    TaskFacts(
        name="ogbn-arxiv@1/mini", title="Classify papers in a citation graph",
        metric="accuracy", direction=Direction.HIGHER, data=DataKind.SUBSTITUTE,
        summary="Pubmed citation graph with an own split",
        starter=Starter(mean=0.6224, sd=0.0113, n=8), reference=0.7711,
    ),
    TaskFacts(
        name="vectorization@1/mini", title="Speed up a convolution",
        metric="time relative to the starter", direction=Direction.LOWER, unit="x",
        data=DataKind.GENERATED, summary="four nested loops in NumPy",
        starter=Starter(mean=1.0, sd=0.021, n=8), reference=0.04,
    ),
)  # fmt: skip
AGENTS = (
    ("tuner", "none", 0.10),
    ("research", "example/large-model-1", 0.24),
    ("classic", "example/small", 0.06),
)
ENDINGS = (Ending.SUBMITTED, Ending.SUBMITTED, Ending.OUT_OF_STEPS, Ending.OUT_OF_TIME)


def make_card(**changes: Any) -> Scorecard:
    """Make a scorecard of a plain successful run, changed as told."""
    plain = {
        "task": "house-price",
        "agent": "tuner",
        "metric": "MAE",
        "score": 17900.6,
        "starter": Starter(mean=21043.1, sd=310.5, n=8),
        "improvement": 0.14934,
        "success": True,
        "significant": True,
        "steps": 3,
        "actions": {"write_file": 1, "execute": 1, "final_answer": 1},
        "seconds": RunSeconds(total=75, model=20, execute=50, harness=5),
        "sandbox": SandboxUsed(provider="bwrap", limits="1 cpu, 4096 MB, cgroup v2"),
        "harness": Harness(version="0.1.0", inspect_ai="0.3.290"),
        "created": "2026-11-15T20:15:00Z",
    }
    return records.card(**(plain | changes))


def make_step(run: str, step: int = 1, **changes: Any) -> Step:
    """Make a step that executed a script, changed as told."""
    plain = {
        "run": run,
        "action": "Execute Script",
        "input": {"script": "train.py"},
        "observation": "epoch 1 loss 0.71\nepoch 2 loss 0.63\nwrote submission.csv",
        "spent": Spent(steps=step, seconds=4.0 * step),
        "seconds": Seconds(model=1.2, execute=2.5, harness=0.3),
        "started": "2026-11-15T20:15:00Z",
    }
    return records.step(step, **(plain | changes))


def judged(facts: TaskFacts, gain: float, **changes: Any) -> Scorecard:
    """Make the card of a run that improved on a task's starter by `gain`."""
    task, rest = facts.name.split("@")
    version, edition = rest.split("/")
    mean = facts.starter.mean
    if gain > SUCCESS_THRESHOLD:
        changes["failure"] = None
    return make_card(
        task=task,
        version=int(version),
        edition=edition,
        metric=facts.metric,
        direction=facts.direction,
        starter=facts.starter,
        score=mean + facts.direction.sign * gain * abs(mean),
        improvement=gain,
        success=gain > SUCCESS_THRESHOLD,
        significant=gain > 1.2 * SUCCESS_THRESHOLD,
        **changes,
    )


def make_trace(card: Scorecard, steps: int, dice: random.Random) -> Trace:
    """Make a run's steps: write, execute, write, execute."""
    made = [
        _executed(card, number, number / steps, dice)
        if number % 2 == 0
        else _wrote(card, number)
        for number in range(1, steps + 1)
    ]
    return Trace(run=card.run, steps=tuple(made))


def _wrote(card: Scorecard, number: int) -> Step:
    thought = {"Thought": "A smaller learning rate may help; try 3e-4."}
    return make_step(
        card.run,
        number,
        action="Write File",
        input={"path": "train.py", "content": "import numpy as np\n" * 20},
        fields={} if card.model == "none" else thought,
        observation="Wrote 20 lines to train.py.",
    )


def _executed(card: Scorecard, number: int, done: float, dice: random.Random) -> Step:
    """Execute, with a measured validation that wanders towards the final score."""
    gain = (card.improvement or 0.0) * done + dice.gauss(0, 0.03)
    value = card.starter.mean * (1 + card.direction.sign * gain)
    return make_step(
        card.run,
        number,
        observation=f"epoch 1 loss 0.71\nvalidation {value:.4f} (measured)",
        validation=Measurement(metric=card.metric, value=value),
    )


def make_experiment(*, seeds: int = 3, steps: int = 14) -> ExperimentView:
    """Make an experiment of every agent on every task, with what can go wrong."""
    dice = random.Random(7)
    cards = [
        judged(
            facts,
            dice.gauss(skill, 0.08) * (4 if facts.unit == "x" else 1),
            agent=agent,
            model=model,
            seed=seed,
            ending=dice.choice(ENDINGS),
            steps=steps,
            process=_process(dice),
            failure=dice.choice(list(FailureMode)),
            by_budget=_by_budget(facts),
            tokens={} if model == "none" else {"input": 90_000, "output": 9_000},
            cost_usd=0.0 if model == "none" else dice.uniform(0.05, 0.9),
            seconds=RunSeconds(
                total=dice.uniform(60, 1500), model=30, execute=200, harness=4
            ),
        )
        for facts in TASKS
        for agent, model, skill in AGENTS
        for seed in range(seeds)
    ]
    traces = [make_trace(card, steps, dice) for card in cards]
    extra = _what_goes_wrong()
    return ExperimentView(
        title="Three agents on four tasks",
        created="2026-11-15 20:15 UTC",
        cards=(*cards, *extra),
        tasks=TASKS,
        traces=(
            *traces,
            Trace(run=extra[0].run, steps=(make_step(extra[0].run),)),
            Trace(run="cifar10:tuner:none:99", steps=(make_step("x"), make_step("x"))),
        ),
        packages={"mlagentbench": "0.1.0", "inspect_ai": "0.3.290"},
        notes=("scorecards.jsonl, line 12: score: Input should be a valid number",),
    )


def scored_card(card: Scorecard, facts: TaskFacts, **changes: Any) -> Scorecard:
    """Add what newer scorecards hold: baselines, normalised score, level, queries."""
    starter, reference = facts.starter, Starter(mean=facts.reference, sd=0.01, n=8)
    tuned = Starter(mean=0.6 * starter.mean + 0.4 * reference.mean, sd=0.01, n=4)
    gap = None
    if card.score is not None:
        gap = (card.score - starter.mean) / (reference.mean - starter.mean)
    level = next(
        name
        for name, least in (("gold", 1), ("silver", 0.5), ("bronze", 0.4), ("none", -9))
        if (gap or 0.0) >= least or name == "none"
    )
    new = {
        "reference": reference, "tuned": tuned, "gap_closed": gap, "level": level,
        "normalised": max(0.0, gap or 0.0), "validation_queries": 7,
        "cpu_seconds": 210.0, "calibration_seconds": 2.0,
    }  # fmt: skip
    return Scorecard.model_validate(card.model_dump() | new | changes)


def make_scored(*, seeds: int = 4, steps: int = 14) -> ExperimentView:
    """Make the same experiment with normalised scores and graded steps."""
    plain = make_experiment(seeds=seeds, steps=steps)
    facts = {one.name: one for one in plain.tasks}
    cards = [scored_card(card, facts[card.score_name]) for card in plain.cards]
    return plain.model_copy(
        update={
            "cards": tuple(cards),
            "tasks": tuple(map(_validated, plain.tasks)),
            "traces": tuple(map(_with_costs, plain.traces)),
            "step_scores": {
                trace.run: _graded(trace) for trace in plain.traces if trace.steps
            },
        }
    )


def _validated(facts: TaskFacts) -> TaskFacts:
    """Add validation scores of the baselines."""
    starter, reference = facts.starter.mean, facts.reference
    tuned = 0.6 * starter + 0.4 * reference
    validation = {"starter": starter, "tuning baseline": tuned, "reference": reference}
    return facts.model_copy(update={"validation": validation})


def _with_costs(trace: Trace) -> Trace:
    paid = 0 if ":none:" in trace.run else 1
    steps = [
        step.model_copy(
            update={
                "spent": Spent(
                    steps=step.step,
                    seconds=20.0 * step.step,
                    tokens=paid * 7_000 * step.step,
                    cost=paid * 0.02 * step.step,
                ),
                "validation": step.validation
                and step.validation.model_copy(
                    update={
                        "low": 0.98 * step.validation.value,
                        "high": 1.02 * step.validation.value,
                    }
                ),
            }
        )
        for step in trace.steps
    ]
    return trace.model_copy(update={"steps": tuple(steps)})


def _graded(trace: Trace) -> tuple[tuple[int, float], ...]:
    """Grade every measured step a little below what validation promised."""
    return tuple(
        (step.step, 0.99 * step.validation.value)
        for step in trace.steps
        if step.validation
    )


def make_one_run() -> ExperimentView:
    """Make one run with a plan, two executions, changed code and a final answer."""
    run = make_card(
        agent="research", model="example/large-model-1", seed=3, gap_closed=0.62,
        tokens={"input": 1_500}, process=_process(random.Random(2)),
    )  # fmt: skip
    plan = {"Research Plan and Status": "Deeper trees.", "Thought": "Try depth 6."}
    validated = [Measurement(metric="MAE", value=value) for value in (20900.0, 18200.0)]
    written = {"path": "train.py", "content": "depth = 6\n" * 40}
    answer = {"final_answer": "Deeper trees help."}
    steps = (
        make_step(run.run, 1, validation=validated[0], fields=plan),
        make_step(run.run, 2, action="Write File", input=written),
        make_step(run.run, 3, ok=False, error="script_failed"),
        make_step(run.run, 4, validation=validated[1]),
        make_step(run.run, 5, action="Final Answer", input=answer),
    )
    changes = code_changes({"train.py": "depth = 2"}, {"train.py": "depth = 6"})
    return ExperimentView(
        title="20261115-research",
        created="2026-11-15T20:15:00+00:00",
        cards=(run,),
        tasks=TASKS[:1],
        traces=(Trace(run=run.run, steps=steps),),
        code={run.run: CodeChanges(files=changes)},
        packages={"mlagentbench": "0.1.0", "inspect_ai": "0.3.290"},
    )


def _process(dice: random.Random) -> dict[str, ProcessCheck]:
    finding = Finding(steps=(2,), quote="accuracy 0.99", why="Never measured.")
    found = ProcessCheck(value=1, evidence=(finding,))
    return {
        "format_errors": ProcessCheck(),
        "unproven_claims": found if dice.random() < 0.4 else ProcessCheck(),
    }


def _by_budget(facts: TaskFacts) -> tuple[BudgetPoint, ...]:
    mean = facts.starter.mean
    good = mean * (1 + facts.direction.sign * 0.2)
    return (
        BudgetPoint(steps=10, score=None),
        BudgetPoint(steps=20, score=mean),
        BudgetPoint(steps=50, score=good, success=True),
    )


def _what_goes_wrong() -> tuple[Scorecard, ...]:
    missing = "submission.csv: 12 ids are missing, the first is 1461"
    cases: tuple[dict[str, Any], ...] = (
        {"submission_error": missing},
        {"ending": Ending.BROKEN, "reason": "the grader ran out of disk"},
        {"ending": Ending.PROVIDER_ERROR, "reason": "529 overloaded, ten times"},
        {"ending": Ending.INTERRUPTED},
        {"ending": Ending.CRASHED, "reason": "IndexError: list index out of range"},
    )
    nothing = {"score": None, "improvement": None}
    refused = {"success": False, "significant": False}
    return tuple(
        make_card(seed=seed, **nothing, **refused, **case)
        for seed, case in enumerate(cases, start=20)
    )


@pytest.fixture(scope="session")
def card() -> Callable[..., Scorecard]:
    return make_card


@pytest.fixture(scope="session")
def step() -> Callable[..., Step]:
    return make_step


@pytest.fixture(scope="session")
def experiment_of() -> Callable[..., ExperimentView]:
    return make_experiment


@pytest.fixture(scope="session")
def experiment() -> ExperimentView:
    return make_experiment()


@pytest.fixture(scope="session")
def scored() -> ExperimentView:
    return make_scored()


@pytest.fixture(scope="session")
def one_run() -> ExperimentView:
    return make_one_run()
