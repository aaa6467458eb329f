"""Records of a run that did nothing remarkable; each test changes what it needs."""

from pathlib import Path
from typing import Any

from mlagentbench.core.scorecard import Harness, SandboxUsed, Scorecard, Starter
from mlagentbench.core.task import Baseline, DataKind, Edition, Measured, Task
from mlagentbench.core.trace import End, Ending, ModelCall, Seconds, Spent, Step
from mlagentbench.evaluation.evaluate import EvaluationContext
from mlagentbench.experiment.plan import ExperimentSpec, TaskSpec

CONTEXT = EvaluationContext(
    sandbox=SandboxUsed(provider="bwrap", limits="rlimits"),
    harness=Harness(version="0", inspect_ai="0"),
    created="2026-11-15T00:00:00+00:00",
)


def card(task: str = "toy", seed: int = 0, **changes: Any) -> Scorecard:
    """Make the scorecard of a run without a valid submission."""
    given = {
        "task": task, "version": 1, "edition": "mini", "agent": "a", "model": "none",
        "seed": seed, "ending": Ending.SUBMITTED, "metric": "mae", "direction": "lower",
        "starter": Starter(mean=100.0, sd=1.0, n=8), "sandbox": CONTEXT.sandbox,
        "harness": CONTEXT.harness, "created": CONTEXT.created,
    } | changes  # fmt: skip
    run = "{task}:{agent}:{model}:{seed}".format(**given)
    return Scorecard(**({"run": run} | given))


def step(number: int = 1, observation: str = "", **changes: Any) -> Step:
    given = {
        "run": "r", "step": number, "agent_step": number, "action": "Execute Script",
        "input": {}, "observation": observation, "ok": True, "started": "",
        "spent": Spent(steps=number), "seconds": Seconds(),
    }  # fmt: skip
    return Step(**(given | changes))


def end(run: str = "r", ending: Ending = Ending.SUBMITTED, **changes: Any) -> End:
    given = {"spent": Spent(), "seconds": 1.0, "at": ""}
    return End(run=run, ending=ending, **(given | changes))


def model_call(**changes: Any) -> ModelCall:
    given = {"role": "main", "model": "m", "request_sha": "", "reply": {}}
    return ModelCall(**(given | changes))


def toy_task(starter: float = 100.0, reference: float = 50.0, **changes: Any) -> Task:
    """Make a task with a measured starter and reference; lower is better."""
    first, second = (
        Baseline(mean=mean, sd=1.0, n=8, date="2026-11-15")
        for mean in (starter, reference)
    )
    given = {
        "id": "toy", "version": 1, "title": "Toy", "category": "test",
        "modality": "tabular", "metric": "mae", "direction": "lower", "unit": "",
        "submission": ("submission.csv",), "perfect": 0.0, "edition": "mini",
        "folder": Path("/nowhere"),
        "measured": Measured(starter=first, reference=second, digest="x"),
        "data": Edition(data=DataKind.REAL, summary="", size_mb=1),
    }  # fmt: skip
    return Task(**(given | changes))


def experiment_spec(task: Task, digest: str = "", **changes: Any) -> ExperimentSpec:
    """Make the request for an experiment on one task."""
    spec = TaskSpec(
        id=task.id, version=task.version, edition=task.edition, source=task.id,
        digest=digest, budget=task.budget,
    )  # fmt: skip
    given = {
        "tasks": (spec,), "agent": "a", "settings": {}, "model": "none", "seeds": (0,),
        "parallel": 1, "sandbox": "bwrap", "limits": "", "agent_env": {},
        "packages": {}, "python": "", "started": "",
    }  # fmt: skip
    return ExperimentSpec(**(given | changes))
