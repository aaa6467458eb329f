"""Replies that are no action, and limits, beside the facts of 4.3 and 4.4.

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import read_eval_log  # noqa: TID251  # how requests were sampled
from voices.classic_lines import (
    AGENTS,
    ALL_FIELDS,
    CLASSIC,
    FORMAT,
    TEXT,
    numbers,
    say,
    told,
    unreadable,
)

from mlagentbench.core.trace import Ending

# 4.4 Reply parsing: up to 5 tries; ResearchAgent appends a format reminder each try.


@pytest.mark.parametrize(
    ("agent", "reminders"),
    [("act", [0] * 5), ("react", [0] * 5), ("research", [0, 1, 2, 3, 4])],
)
def test_after_five_bad_replies_the_run_is_stopped(play, agent, reminders):
    name, settings = AGENTS[agent]
    played = play(name, *["I would rather talk."] * 9, **settings)
    assert played.card.ending is Ending.STOPPED
    assert played.spent == 0
    assert [told(m).count("thrown away") for m in played.asked] == reminders
    assert not any("rather talk" in told(messages) for messages in played.asked)


def test_the_fifth_try_may_still_succeed_and_reminders_are_not_remembered(play):
    bad = "Thought: hm\nAction: Fly\nAction Input: {}"
    lines = [*[bad] * 4, say(number=7), say(number=8)]
    played = play("research", *lines, **CLASSIC, budget=2)
    assert played.actions == ["List Files", "List Files"]
    assert f"with all of these parts: {', '.join(FORMAT)}." in told(played.asked[4])
    assert "thrown away" not in told(played.asked[5])


@pytest.mark.parametrize("missing", ALL_FIELDS)
def test_a_reply_without_one_of_its_fields_is_not_in_format(play, missing):
    fields = [field for field in ALL_FIELDS if field != missing]
    empty = say().replace(f"{missing} number 0", "")
    played = play("research", say(fields=fields), empty, **CLASSIC, budget=1)
    assert len(played.asked) == 2
    assert played.actions == ["List Files"]


def test_a_prompt_that_is_too_long_is_tried_with_fewer_steps(play):
    too_long = {"text": "", "stop_reason": "model_length"}
    lines = [say(number=0), say(number=1), too_long, too_long, say(number=2)]
    played = play("research", *lines, **CLASSIC, budget=3)
    shown = [numbers(messages) for messages in played.asked]
    assert shown == [[], [0], [0, 1], [1], []]


# 4.4 Action Input: ActionInputParsingError uses no env step and is dropped later.


def test_an_unreadable_input_costs_the_research_agent_no_step(play):
    lines = [say(number=0), unreadable(1), unreadable(2), say(number=3), say(number=4)]
    played = play("research", *lines, **CLASSIC, budget=3)
    assert [step.spent.steps for step in played.steps] == [1, 1, 1, 2, 3]
    assert [numbers(m) for m in played.asked] == [[], [0], [0, 1], [0, 1, 2], [0, 3]]
    answer = played.asked[2][-1].text
    assert answer.startswith("Observation:\nActionInputParsingError: ")
    assert 'List Files takes {"dir_path": ' in answer
    assert "ActionInputParsingError" not in told(played.asked[4])


def test_an_unreadable_input_costs_the_other_agents_a_step_and_stays(play):
    lines = [unreadable(1), say(number=2), say(number=3)]
    played = play("react", *lines, **TEXT, budget=3)
    assert [step.spent.steps for step in played.steps] == [1, 2, 3]
    assert numbers(played.asked[2]) == [1, 2]
    assert 'List Files takes {"dir_path": ' in played.asked[1][-1].text


def test_a_reply_that_was_cut_off_is_not_carried_out(play):
    cut = {"text": say(), "stop_reason": "max_tokens"}
    played = play("research", cut, say(number=2), **CLASSIC, budget=1)
    assert [step.spent.steps for step in played.steps] == [0, 1]
    assert "cut off" in played.asked[1][-1].text


# 4.3 Defaults: agent_max_steps 50, temperature 0.5, 2000 tokens, stop at Observation.


def test_an_agent_has_a_limit_of_steps_of_its_own(play):
    lines = [say(number=n) for n in range(9)]
    played = play("research", *lines, **CLASSIC, max_agent_steps="4")
    assert played.card.ending is Ending.STOPPED
    assert played.spent == 4
    # Without good steps between them, unreadable inputs fill the memory as well.
    played = play(
        "research", *map(unreadable, range(9)), **CLASSIC, max_agent_steps="4"
    )
    assert played.card.ending is Ending.STOPPED
    assert (played.spent, len(played.steps)) == (0, 4)


def test_requests_are_sampled_as_in_the_paper(play):
    lines = [say("Write File", file_name="a.py", content="print('x' * 6000)")]
    lines += [say("Execute Script", script_name="a.py"), say()]
    played = play("research", *lines, **CLASSIC)
    (log,) = played.experiment.logs.glob("*.eval")
    (sample,) = read_eval_log(log).samples
    configs = [e.config for e in sample.events if isinstance(e, ModelEvent)]
    main = [c for c in configs if c.stop_seqs == ["Observation:"]]
    assert {(c.temperature, c.max_tokens) for c in main} == {(0.5, 2000)}
    helper = [c for c in configs if not c.stop_seqs]
    assert {(c.temperature, c.max_tokens) for c in helper} == {(0.01, 2000)}
