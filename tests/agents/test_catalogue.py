"""The agents by name."""

import pytest

from mlagentbench.agents.catalogue import AGENTS, find_agent, load_agent
from mlagentbench.core.errors import UsageError


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_can_be_loaded(name):
    assert callable(load_agent(find_agent(name)))


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean tuner"):
        find_agent("tunner")
    with pytest.raises(UsageError, match="unknown agent 'xyz'; run `mlab agents`"):
        find_agent("xyz")


def test_an_outside_agent_is_a_module_and_a_function():
    assert load_agent(find_agent("mlagentbench.agents.baselines:starter")).__name__
    with pytest.raises(UsageError, match="cannot import 'no_such_module'"):
        load_agent(find_agent("no_such_module:agent"))
    with pytest.raises(UsageError, match="has no function 'nobody'"):
        load_agent(find_agent("mlagentbench.agents.baselines:nobody"))
