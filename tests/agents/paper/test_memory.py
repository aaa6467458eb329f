"""Steps, plans and summaries in the prompts of the paper's agents (facts 4.4).

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import pytest
from fake_models.paper import AGENTS, CLASSIC, TEXT, full_text, numbered, numbers

from mlagentbench.core.trace import Ending

# 4.4 Prompt = initial prompt + last 3 steps.


@pytest.mark.parametrize("agent", ["react", "research"])
def test_the_prompt_shows_exactly_the_last_three_steps(run_agent, agent):
    name, settings = AGENTS[agent]
    finished = run_agent(
        name, *(numbered(number=n) for n in range(6)), **settings, budget=6
    )
    assert [numbers(messages) for messages in finished.prompts] == [
        [], [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4],
    ]  # fmt: skip
    observations = [full_text(m).count("Observation:\n") for m in finished.prompts]
    assert observations == [0, 1, 2, 3, 3, 3]


def test_older_observations_are_replaced_if_fewer_are_shown(run_agent):
    finished = run_agent(
        "research",
        *(numbered(number=n) for n in range(4)),
        **CLASSIC,
        observations_in_context="1",
        budget=4,
    )
    last = finished.prompts[-1]
    assert numbers(last) == [0, 1, 2]
    assert [m.text for m in last[2::2]][:2] == ["Observation:\n<Done>"] * 2
    assert "train.py" in last[-1].text


def test_update_marks_are_removed_from_the_plan_only(run_agent):
    reply = numbered().replace("Status number 0", "Status: **step one** is done")
    code = numbered("Write File", file_name="a.py", content="print(2**3)")
    finished = run_agent("research", reply, code, **CLASSIC)
    assert "Status: step one is done" in full_text(finished.prompts[1][1:])
    assert "print(2**3)" in full_text(finished.prompts[2])
    assert finished.steps[0].fields["Research Plan and Status"].endswith("one is done")


def test_the_latest_plan_is_shown_if_the_last_steps_do_not_repeat_it(run_agent):
    call = {"name": "list_files", "arguments": {"dir_path": "."}}
    first = {"text": "Research Plan and Status: find out", "tool_calls": [call]}
    silent = {"tool_calls": [call]}
    finished = run_agent(
        "research", first, *[silent] * 4, **CLASSIC, protocol="tools", budget=5
    )
    carried = ["Your latest Research Plan" in opening for opening in finished.openings]
    assert carried == [False, False, False, False, True]
    assert "find out" in finished.openings[-1]


def test_the_papers_agents_never_see_the_measured_validation(run_agent):
    lines = [numbered("Execute Script", script_name="train.py"), numbered()]
    for name, settings in AGENTS.values():
        finished = run_agent(name, *lines, **settings, budget=2)
        assert "validation mae=" in finished.steps[0].note
        assert not any(
            "(measured)" in full_text(messages) for messages in finished.prompts
        )


# 4.4 Observation > 5000 characters: summarised in 10,000-character blocks, merged.


@pytest.mark.parametrize(
    ("lines", "calls"), [(49, 0), (60, 1), (150, 3)], ids=["short", "one", "two"]
)
def test_long_observations_are_summarized_by_the_helper(run_agent, lines, calls):
    code = f"for n in range({lines}): print(f'{{n:03}}' + 'x' * 96)"
    finished = run_agent(
        "research",
        numbered("Write File", file_name="a.py", content=code),
        numbered("Execute Script", script_name="a.py"),
        numbered(),
        **CLASSIC,
        budget=3,
    )
    assert len(finished.helper_prompts) == calls
    assert all("Action: Execute Script" in prompt for prompt in finished.helper_prompts)
    observation = finished.prompts[2][-1].text
    if calls:
        assert observation == "Observation:\nThe script was run and works."
    else:
        assert "048xxx" in observation
    assert f"{lines - 1:03}xxx" in finished.steps[1].observation


def test_act_sees_long_observations_in_full(run_agent):
    code = "print('x' * 6000)"
    finished = run_agent(
        "act",
        numbered("Write File", file_name="a.py", content=code, fields=()),
        numbered("Execute Script", script_name="a.py", fields=()),
        **TEXT,
    )
    assert finished.helper_prompts == []
    assert "x" * 6000 in full_text(finished.prompts[2])


# 4.4 With retrieval each agent step also runs Append Summary and, after 3, Retrieval.


def test_with_a_log_every_agent_step_takes_up_to_three_steps(run_agent):
    lines = [numbered(number=n) for n in range(9)]
    finished = run_agent("research", *lines, **CLASSIC, log="on")
    note, recall = "Append Summary to Research Log", "Retrieval from Research Log"
    short, long = ["List Files", note], ["List Files", note, recall]
    assert finished.actions == [*short * 3, *long * 4, *long[:2]]
    assert finished.card.ending is Ending.OUT_OF_STEPS
    turns = [step.agent_step for step in finished.steps]
    assert turns == [1, 1, 2, 2, 3, 3, *(t for t in (4, 5, 6, 7) for _ in long), 8, 8]
    recalled = ["What the research log says" in o for o in finished.openings]
    assert recalled == [False] * 4 + [True] * 4
    assert finished.steps[1].input["content"].startswith("Step 1:\nThe script was run")
    assert finished.steps[8].input["current_plan"].endswith("number 3")


def test_without_a_log_no_summary_is_written(run_agent):
    finished = run_agent("research", *(numbered(number=n) for n in range(5)), **CLASSIC)
    assert set(finished.actions) == {"List Files", "Final Answer"}
    assert finished.helper_prompts == []
