"""A small task and traces of it, as the pure functions take them."""

import pytest
from tests.support.records import card, end, model_call, step, toy_task

from mlagentbench.core.trace import Ending, ModelCall, Seconds, Spent, Trace


@pytest.fixture(scope="session")
def make_task():
    return toy_task


@pytest.fixture(scope="session")
def make_call():
    def make(model="provider/model", usage=None, cost=None, role="main") -> ModelCall:
        used = {"input": 1_000_000, "output": 1_000} if usage is None else usage
        return model_call(role=role, model=model, usage=used, cost=cost)

    return make


@pytest.fixture(scope="session")
def make_trace():
    """Make a trace of so many steps, each with the same calls."""

    def make(steps=0, calls=(), ending=Ending.SUBMITTED, counts=None) -> Trace:
        cost = sum(call.cost or 0.0 for call in calls)
        taken = tuple(
            step(
                number, run="toy", calls=tuple(calls),
                spent=Spent(
                    steps=counts(number) if counts else number,
                    seconds=10.0 * number, tokens=100 * number, cost=cost * number,
                ),
                seconds=Seconds(model=1, execute=2, harness=0.5),
            )
            for number in range(1, steps + 1)
        )  # fmt: skip
        spent = taken[-1].spent if taken else Spent()
        ended = ending and end("toy", ending, spent=spent, seconds=99)
        return Trace(run="toy", steps=taken, end=ended)

    return make


@pytest.fixture(scope="session")
def make_card():
    return card
