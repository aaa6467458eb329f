from mlagentbench.report.averages import who


def test_an_agent_without_a_model_is_named_alone(card):
    assert who(card()) == "tuner"
    assert who(card(agent="research", model="x/y")) == "research / x/y"
