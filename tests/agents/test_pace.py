"""No trial is begun that would not fit into what is left of the time."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.context import Remaining
from mlagentbench.agents.conversation import Pace


@given(st.lists(st.floats(0.1, 100), min_size=1), st.floats(200, 3000))
def test_whoever_asks_never_overdraws_by_a_trial_as_long_as_the_longest(
    trials, seconds
):
    left = [seconds]
    clock = SimpleNamespace(remaining=lambda: Remaining(steps=9, seconds=left[0]))
    pace = Pace(clock)
    longest = 0.0
    for trial in trials:
        if not pace.another_fits():
            assert left[0] <= 1.2 * longest + 1e-6
            return
        assert left[0] > longest
        left[0] = max(0.0, left[0] - trial)
        longest = max(longest, trial)
