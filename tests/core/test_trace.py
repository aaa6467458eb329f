"""Endings."""

from mlagentbench.core.trace import Ending


def test_only_what_is_not_the_agents_doing_is_left_out_of_averages():
    left_out = {ending for ending in Ending if not ending.counts}
    assert left_out == {Ending.PROVIDER_ERROR, Ending.INTERRUPTED, Ending.BROKEN}
