"""What the paper's agents keep in view, beside the facts of 4.4.

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import pytest
from voices.classic_lines import AGENTS, CLASSIC, TEXT, numbers, say, told

from mlagentbench.core.trace import Ending

# 4.4 Prompt = initial prompt + last 3 steps.


@pytest.mark.parametrize("agent", ["react", "research"])
def test_a_model_is_shown_exactly_the_last_three_steps(play, agent):
    name, settings = AGENTS[agent]
    played = play(name, *(say(number=n) for n in range(6)), **settings, budget=6)
    assert [numbers(messages) for messages in played.asked] == [
        [], [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4],
    ]  # fmt: skip
    observations = [told(m).count("Observation:\n") for m in played.asked]
    assert observations == [0, 1, 2, 3, 3, 3]


def test_older_observations_are_replaced_where_fewer_are_shown(play):
    played = play(
        "research",
        *(say(number=n) for n in range(4)),
        **CLASSIC,
        observations_in_context="1",
        budget=4,
    )
    last = played.asked[-1]
    assert numbers(last) == [0, 1, 2]
    assert [m.text for m in last[2::2]][:2] == ["Observation:\n<Done>"] * 2
    assert "train.py" in last[-1].text


def test_marks_of_updates_go_and_the_latest_plan_stays(play):
    reply = say().replace("Status number 0", "Status: **step one** is done")
    code = say("Write File", file_name="a.py", content="print(2**3)")
    played = play("research", reply, code, **CLASSIC)
    assert "Status: step one is done" in told(played.asked[1][1:])
    assert "print(2**3)" in told(played.asked[2])
    assert played.steps[0].fields["Research Plan and Status"].endswith("one is done")


def test_the_latest_plan_is_carried_where_the_last_steps_do_not_repeat_it(play):
    call = {"name": "list_files", "arguments": {"dir_path": "."}}
    first = {"text": "Research Plan and Status: find out", "tool_calls": [call]}
    silent = {"tool_calls": [call]}
    played = play(
        "research", first, *[silent] * 4, **CLASSIC, protocol="tools", budget=5
    )
    carried = ["Your latest Research Plan" in opening for opening in played.openings]
    assert carried == [False, False, False, False, True]
    assert "find out" in played.openings[-1]


def test_the_paper_s_agents_never_see_what_we_measured(play):
    lines = [say("Execute Script", script_name="train.py"), say()]
    for name, settings in AGENTS.values():
        played = play(name, *lines, **settings, budget=2)
        assert "validation mae=" in played.steps[0].note
        assert not any("(measured)" in told(messages) for messages in played.asked)


# 4.4 Observation > 5000 characters: summarised in 10,000-character blocks, merged.


@pytest.mark.parametrize(
    ("lines", "helped"), [(49, 0), (60, 1), (150, 3)], ids=["short", "one", "two"]
)
def test_long_observations_are_summed_up_by_the_helper(play, lines, helped):
    code = f"for n in range({lines}): print(f'{{n:03}}' + 'x' * 96)"
    played = play(
        "research",
        say("Write File", file_name="a.py", content=code),
        say("Execute Script", script_name="a.py"),
        say(),
        **CLASSIC,
        budget=3,
    )
    assert len(played.helped) == helped
    assert all("Action: Execute Script" in asked for asked in played.helped)
    observation = played.asked[2][-1].text
    if helped:
        assert observation == "Observation:\nThe script was run and works."
    else:
        assert "048xxx" in observation
    assert f"{lines - 1:03}xxx" in played.steps[1].observation


def test_the_other_agents_read_long_observations_themselves(play):
    code = "print('x' * 6000)"
    played = play(
        "act",
        say("Write File", file_name="a.py", content=code, fields=()),
        say("Execute Script", script_name="a.py", fields=()),
        **TEXT,
    )
    assert played.helped == []
    assert "x" * 6000 in told(played.asked[2])


# 4.4 With retrieval each agent step also runs Append Summary and, after 3, Retrieval.


def test_with_a_log_every_agent_step_takes_up_to_three_steps(play):
    lines = [say(number=n) for n in range(9)]
    played = play("research", *lines, **CLASSIC, log="on")
    note, recall = "Append Summary to Research Log", "Retrieval from Research Log"
    short, long = ["List Files", note], ["List Files", note, recall]
    assert played.actions == [*short * 3, *long * 4, *long[:2]]
    assert played.card.ending is Ending.OUT_OF_STEPS
    turns = [step.agent_step for step in played.steps]
    assert turns == [1, 1, 2, 2, 3, 3, *(t for t in (4, 5, 6, 7) for _ in long), 8, 8]
    recalled = ["What the research log says" in o for o in played.openings]
    assert recalled == [False] * 4 + [True] * 4
    assert played.steps[1].input["content"].startswith("Step 1:\nThe script was run")
    assert played.steps[8].input["current_plan"].endswith("number 3")


def test_without_a_log_nothing_is_noted_down(play):
    played = play("research", *(say(number=n) for n in range(5)), **CLASSIC)
    assert set(played.actions) == {"List Files", "Final Answer"}
    assert played.helped == []
