"""The experiments of one run, and which of them is the best."""

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.research.researcher import Ledger
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Measurement, Seconds, Spent, Step


def executed(number, value):
    return Step(
        run="r", step=number, agent_step=number, action="Execute Script", input={},
        observation="" if value is not None else "Errors:\nKeyError: 'Bath'",
        ok=value is not None, spent=Spent(), seconds=Seconds(),
        validation=None if value is None else Measurement(metric="mae", value=value),
        started="",
    )  # fmt: skip


@given(
    st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1), st.sampled_from(Direction)
)
def test_the_best_is_the_first_of_the_best_values(values, direction):
    ledger = Ledger("mae", direction)
    for number, value in enumerate(values, start=1):
        ledger.note(executed(number, value), f"change {number}")
    measured = [value for value in values if value is not None]
    if not measured:
        assert ledger.best is None
        assert ledger.fruitless == len(values)
        return
    best = max(measured, key=lambda value: direction.sign * value)
    assert ledger.best.step == values.index(best) + 1
    assert ledger.since_best == ledger.fruitless == len(values) - ledger.best.step


def test_the_table_tells_what_was_tried_and_always_shows_the_best():
    ledger = Ledger("mae", Direction.LOWER)
    for number, value in enumerate([9.0, 3.0, None, 5.0, 6.0, 7.0], start=1):
        ledger.note(executed(number, value), f"change {number}")
    lines = ledger.table(last=3).splitlines()
    assert lines[0] == "- step 2: mae 3 (best): change 2"
    assert lines[-1] == "- step 6: mae 7 (no better): change 6"
    assert "- step 3: no score (KeyError: 'Bath'): change 3" in ledger.table(last=5)
    assert Ledger("mae", Direction.LOWER).table() == "nothing was tried yet"
