"""Malformed replies and limits of the paper's agents (facts 4.3 and 4.4).

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import pytest
from fake_models.paper import (
    AGENTS,
    ALL_FIELDS,
    CLASSIC,
    FORMAT,
    TEXT,
    full_text,
    numbered,
    numbers,
    unreadable,
)
from inspect_ai.event import ModelEvent
from inspect_ai.log import read_eval_log  # noqa: TID251  # how requests were sampled

from mlagentbench.core.trace import Ending

# 4.4 Reply parsing: up to 5 tries; ResearchAgent appends a format reminder each try.


@pytest.mark.parametrize(
    ("agent", "reminders"),
    [("act", [0] * 5), ("react", [0] * 5), ("research", [0, 1, 2, 3, 4])],
)
def test_after_five_bad_replies_the_run_is_stopped(run_agent, agent, reminders):
    name, settings = AGENTS[agent]
    finished = run_agent(name, *["I would rather talk."] * 9, **settings)
    assert finished.card.ending is Ending.STOPPED
    assert finished.spent == 0
    assert [full_text(m).count("thrown away") for m in finished.prompts] == reminders
    assert not any(
        "rather talk" in full_text(messages) for messages in finished.prompts
    )


def test_the_fifth_try_may_succeed_and_reminders_are_dropped(run_agent):
    bad = "Thought: hm\nAction: Fly\nAction Input: {}"
    lines = [*[bad] * 4, numbered(number=7), numbered(number=8)]
    finished = run_agent("research", *lines, **CLASSIC, budget=2)
    assert finished.actions == ["List Files", "List Files"]
    assert f"with all of these parts: {', '.join(FORMAT)}." in full_text(
        finished.prompts[4]
    )
    assert "thrown away" not in full_text(finished.prompts[5])


@pytest.mark.parametrize("missing", ALL_FIELDS)
def test_a_reply_without_one_of_its_fields_is_not_in_format(run_agent, missing):
    fields = [field for field in ALL_FIELDS if field != missing]
    empty = numbered().replace(f"{missing} number 0", "")
    finished = run_agent(
        "research", numbered(fields=fields), empty, **CLASSIC, budget=1
    )
    assert len(finished.prompts) == 2
    assert finished.actions == ["List Files"]


def test_a_prompt_that_exceeds_the_context_is_tried_with_fewer_steps(run_agent):
    too_long = {"text": "", "stop_reason": "model_length"}
    lines = [
        numbered(number=0),
        numbered(number=1),
        too_long,
        too_long,
        numbered(number=2),
    ]
    finished = run_agent("research", *lines, **CLASSIC, budget=3)
    shown = [numbers(messages) for messages in finished.prompts]
    assert shown == [[], [0], [0, 1], [1], []]


# 4.4 Action Input: ActionInputParsingError uses no env step and is dropped later.


def test_an_unreadable_input_costs_the_research_agent_no_step(run_agent):
    lines = [
        numbered(number=0),
        unreadable(1),
        unreadable(2),
        numbered(number=3),
        numbered(number=4),
    ]
    finished = run_agent("research", *lines, **CLASSIC, budget=3)
    assert [step.spent.steps for step in finished.steps] == [1, 1, 1, 2, 3]
    assert [numbers(m) for m in finished.prompts] == [
        [],
        [0],
        [0, 1],
        [0, 1, 2],
        [0, 3],
    ]
    answer = finished.prompts[2][-1].text
    assert answer.startswith("Observation:\nActionInputParsingError: ")
    assert 'List Files takes {"dir_path": ' in answer
    assert "ActionInputParsingError" not in full_text(finished.prompts[4])


def test_an_unreadable_input_costs_the_other_agents_a_step_and_stays(run_agent):
    lines = [unreadable(1), numbered(number=2), numbered(number=3)]
    finished = run_agent("react", *lines, **TEXT, budget=3)
    assert [step.spent.steps for step in finished.steps] == [1, 2, 3]
    assert numbers(finished.prompts[2]) == [1, 2]
    assert 'List Files takes {"dir_path": ' in finished.prompts[1][-1].text


def test_a_truncated_reply_is_not_carried_out(run_agent):
    cut = {"text": numbered(), "stop_reason": "max_tokens"}
    finished = run_agent("research", cut, numbered(number=2), **CLASSIC, budget=1)
    assert [step.spent.steps for step in finished.steps] == [0, 1]
    assert "cut off" in finished.prompts[1][-1].text


# 4.3 Defaults: agent_max_steps 50, temperature 0.5, 2000 tokens, stop at Observation.


def test_max_agent_steps_limits_readable_and_unreadable_steps(run_agent):
    lines = [numbered(number=n) for n in range(9)]
    finished = run_agent("research", *lines, **CLASSIC, max_agent_steps="4")
    assert finished.card.ending is Ending.STOPPED
    assert finished.spent == 4
    # Without good steps between them, unreadable inputs fill the memory as well.
    finished = run_agent(
        "research", *map(unreadable, range(9)), **CLASSIC, max_agent_steps="4"
    )
    assert finished.card.ending is Ending.STOPPED
    assert (finished.spent, len(finished.steps)) == (0, 4)


def test_temperature_and_max_tokens_are_the_papers(run_agent):
    lines = [numbered("Write File", file_name="a.py", content="print('x' * 6000)")]
    lines += [numbered("Execute Script", script_name="a.py"), numbered()]
    finished = run_agent("research", *lines, **CLASSIC)
    (log,) = finished.experiment.logs.glob("*.eval")
    (sample,) = read_eval_log(log).samples
    configs = [e.config for e in sample.events if isinstance(e, ModelEvent)]
    main = [c for c in configs if c.stop_seqs == ["Observation:"]]
    assert {(c.temperature, c.max_tokens) for c in main} == {(0.5, 2000)}
    helper = [c for c in configs if not c.stop_seqs]
    assert {(c.temperature, c.max_tokens) for c in helper} == {(0.01, 2000)}
