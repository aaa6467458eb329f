"""A small task and traces of it, as the pure functions take them."""

from pathlib import Path

import pytest

from mlagentbench.core.scorecard import Harness, SandboxUsed, Scorecard, Starter
from mlagentbench.core.task import Baseline, DataKind, Edition, Measured, Task
from mlagentbench.core.trace import End, Ending, ModelCall, Seconds, Spent, Step, Trace


def _baseline(mean: float, sd: float = 1.0) -> Baseline:
    return Baseline(mean=mean, sd=sd, n=8, date="2026-11-15")


@pytest.fixture(scope="session")
def make_task():
    """Make a task with a measured starter and reference; lower is better."""

    def make(starter=100.0, reference=50.0, **changes) -> Task:
        measured = Measured(
            starter=_baseline(starter), reference=_baseline(reference), digest="x"
        )
        given = {
            "id": "toy", "version": 1, "title": "Toy", "category": "test",
            "modality": "tabular", "metric": "mae", "direction": "lower", "unit": "",
            "submission": ("submission.csv",), "perfect": 0.0, "edition": "mini",
            "folder": Path("/nowhere"), "measured": measured,
            "data": Edition(data=DataKind.REAL, summary="", size_mb=1),
        }  # fmt: skip
        return Task(**(given | changes))

    return make


@pytest.fixture(scope="session")
def make_call():
    def make(model="provider/model", usage=None, cost=None, role="main") -> ModelCall:
        used = {"input": 1_000_000, "output": 1_000} if usage is None else usage
        return ModelCall(
            role=role, model=model, request_sha="", reply={}, usage=used, cost=cost
        )

    return make


@pytest.fixture(scope="session")
def make_trace():
    """Make a trace of so many steps, each with the same calls."""

    def make(steps=0, calls=(), ending=Ending.SUBMITTED, counts=None) -> Trace:
        cost = sum(call.cost or 0.0 for call in calls)
        taken = tuple(
            Step(
                run="toy", step=number, agent_step=number, action="Execute Script",
                input={}, observation="", ok=True, calls=tuple(calls), started="",
                spent=Spent(
                    steps=counts(number) if counts else number,
                    seconds=10.0 * number, tokens=100 * number, cost=cost * number,
                ),
                seconds=Seconds(model=1, execute=2, harness=0.5),
            )
            for number in range(1, steps + 1)
        )  # fmt: skip
        spent = taken[-1].spent if taken else Spent()
        end = ending and End(run="toy", ending=ending, spent=spent, seconds=99, at="")
        return Trace(run="toy", steps=taken, end=end)

    return make


@pytest.fixture(scope="session")
def make_card():
    """Make a scorecard; what is not given is of a run without submission."""

    def make(task="toy", seed=0, **changes) -> Scorecard:
        given = {
            "run": f"{task}:a:none:{seed}", "task": task, "version": 1,
            "edition": "mini", "agent": "a", "model": "none", "seed": seed,
            "ending": "submitted", "metric": "mae", "direction": "lower",
            "starter": Starter(mean=100.0, sd=1.0, n=8), "created": "",
            "sandbox": SandboxUsed(provider="bwrap", limits=""),
            "harness": Harness(version="0", inspect_ai="0"),
        }  # fmt: skip
        return Scorecard(**(given | changes))

    return make
