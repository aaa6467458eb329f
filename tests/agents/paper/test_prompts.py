"""Prompts and actions of the paper's agents (facts 4.2 to 4.4).

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import json
import re
from pathlib import Path

import pytest
from fake_models.paper import AGENTS, ALL_FIELDS, CLASSIC, REPLIES, numbered

from mlagentbench.agents.research import agent as research
from mlagentbench.core.errors import UsageError
from mlagentbench.core.trace import Ending

LISTED = [
    *("List Files", "Copy File", "Undo Edit Script", "Execute Script"),
    *("Final Answer", "Understand File", "Inspect Script Lines", "Edit Script (AI)"),
]


# 4.4 Agents: fields in order.


@pytest.mark.parametrize(
    ("agent", "fields"),
    [("act", []), ("react", ["Thought"]), ("research", ALL_FIELDS)],
)
def test_each_agent_asks_for_its_fields_in_the_papers_order(run_agent, agent, fields):
    name, settings = AGENTS[agent]
    (opening,) = run_agent(name, **settings, budget=1).openings[:1]
    parts = re.findall(r"(?m)^([A-Z][\w ]*): (?:\.\.\.|<name of|<its input)", opening)
    assert parts == [*fields, "Action", "Action Input"]
    meant = re.findall(
        r"(?m)^- (Reflection|Research Plan.*?|Fact Check|Thought):", opening
    )
    assert meant == fields


@pytest.mark.parametrize(
    ("chosen", "fields"),
    [
        ("thought,plan", ["Research Plan and Status", "Thought"]),
        ("fact_check", ["Fact Check"]),
        ("none", []),
    ],
)
def test_fields_can_be_left_out(run_agent, chosen, fields):
    lines = [
        numbered(fields=fields),
        numbered("Final Answer", fields=fields, final_answer=""),
    ]
    finished = run_agent("research", *lines, **CLASSIC, fields=chosen)
    assert finished.card.ending is Ending.SUBMITTED
    parts = re.findall(r"(?m)^([A-Z][\w ]*): \.\.\.", finished.openings[0])
    assert parts == fields
    assert list(finished.steps[0].fields) == fields


@pytest.mark.parametrize(
    "rule",
    [
        "make a plan",
        "Keep the Research Plan and Status short",
        "only what an observation has confirmed",
        "only after you ran the code",
        "Measure the baseline",
        "Install no packages",
        "submit only once",
        "**double asterisks**",
    ],
)
def test_the_instructions_cover_those_of_the_paper(rule):
    prompts = Path(research.__file__).parents[1] / "prompts"
    texts = [
        (prompts / name).read_text() for name in ("classic.md", "classic_fields.md")
    ]
    assert rule in " ".join(texts)


# 4.4 Tools shown in the prompt; hidden names are still accepted if emitted.


@pytest.mark.parametrize(
    ("agent", "more", "reflection"),
    [
        ("act", {}, []),
        ("react", {}, []),
        ("research", {}, []),
        ("research", {"log": "on"}, ["Reflection"]),
    ],
)
def test_the_prompt_lists_the_default_actions_only(run_agent, agent, more, reflection):
    name, settings = AGENTS[agent]
    opening = run_agent(name, **settings, **more, budget=1).openings[0]
    listed = re.findall(r"(?m)^- ([^:]*): .* Input: \{", opening)
    assert listed == [*LISTED, *reflection]


def test_hidden_actions_are_accepted_if_a_model_names_them(run_agent):
    hidden = {
        "Write File": {"file_name": "a.py", "content": "print(2 ** 3)\n"},
        "Append File": {"file_name": "a.py", "content": "print(4)\n"},
        "Read File": {"file_name": "a.py"},
        "Python REPL": {"command": "print(5)"},
        "Append Summary to Research Log": {"content": "so far so good"},
        "Retrieval from Research Log": {"current_plan": "none"},
        "Reflection": {"things_to_reflect_on": "life"},
        "Edit Script Segment (AI)": {
            "script_name": "a.py",
            "start_line_number": "1",
            "end_line_number": "1",
            "edit_instruction": "Leave it as it is.",
            "save_name": "b.py",
        },
        "Check Submission": {},
    }
    lines = [numbered(action, **given) for action, given in hidden.items()]
    finished = run_agent("research", *lines, **CLASSIC)
    assert finished.actions == [*hidden, "Final Answer"]
    assert "print(2 ** 3)\nprint(4)" in finished.steps[2].observation
    assert [step.action for step in finished.steps if not step.ok] == [
        "Check Submission"
    ]


@pytest.mark.parametrize(
    ("action", "given"),
    [("Run Command", {"command": "ls"}), ("Restore Workspace", {"step_number": "1"})],
)
def test_actions_that_the_paper_does_not_have_are_unknown(run_agent, action, given):
    finished = run_agent("research", *[numbered(action, **given)] * 5, **CLASSIC)
    assert finished.card.ending is Ending.STOPPED
    assert finished.spent == 0


def test_with_tools_the_last_three_calls_are_shown(run_agent):
    call = {"name": "list_files", "arguments": {"dir_path": "."}}
    lines = [{"text": f"Thought: number {n}", "tool_calls": [call]} for n in range(5)]
    finished = run_agent("react", *lines, budget=5)
    assert finished.actions == ["List Files"] * 5
    assert finished.steps[4].fields == {"Thought": "number 4"}
    roles = [message.role for message in finished.prompts[4]]
    assert roles == ["user", *["assistant", "tool"] * 3]
    assert [m.text for m in finished.prompts[4][1::2]] == [
        f"Thought: number {n}" for n in (1, 2, 3)
    ]
    assert "exactly one of the tools" in finished.openings[0]


def test_with_a_schema_the_fields_are_keys(run_agent):
    reply = {"thought": "go **on**", "research_plan_and_status": "**all** new"}
    reply |= {"reflection": "", "fact_check": ""}
    reply |= {"action": "List Files", "input": {"dir_path": "."}}
    lines = [json.dumps(reply)] * 2
    finished = run_agent("research", *lines, **CLASSIC, protocol="schema", budget=2)
    assert '"research_plan_and_status": "..."' in finished.openings[0]
    assert list(finished.steps[0].fields) == ALL_FIELDS
    shown = json.loads(finished.prompts[1][1].text)
    assert shown["research_plan_and_status"] == "all new"
    assert shown["thought"] == "go **on**"


def test_invalid_settings_are_refused_before_a_model_is_asked(run_agent):
    with pytest.raises(UsageError, match="choose from: on, off"):
        run_agent("research", **CLASSIC, log="yes")
    assert REPLIES.prompts == []
