"""What the paper's agents are told and may do, beside the facts of 4.2 to 4.4.

Every heading is a fact about the original that the tests below it hold our agents to.
"""

import re
from pathlib import Path

import pytest
from voices.classic_lines import AGENTS, ALL_FIELDS, CLASSIC, say

from mlagentbench.agents.research import agent as research
from mlagentbench.core.trace import Ending

TOLD = [
    "List Files",
    "Copy File",
    "Undo Edit Script",
    "Execute Script",
    "Final Answer",
    "Understand File",
    "Inspect Script Lines",
    "Edit Script (AI)",
]


# 4.4 Agents: fields in order.


@pytest.mark.parametrize(
    ("agent", "fields"),
    [("act", []), ("react", ["Thought"]), ("research", ALL_FIELDS)],
)
def test_each_agent_asks_for_its_fields_in_the_papers_order(play, agent, fields):
    name, settings = AGENTS[agent]
    (opening,) = play(name, **settings, budget=1).openings[:1]
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
def test_fields_can_be_left_out_to_see_what_they_are_good_for(play, chosen, fields):
    lines = [say(fields=fields), say("Final Answer", fields=fields, final_answer="")]
    played = play("research", *lines, **CLASSIC, fields=chosen)
    assert played.card.ending is Ending.SUBMITTED
    parts = re.findall(r"(?m)^([A-Z][\w ]*): \.\.\.", played.openings[0])
    assert parts == fields
    assert list(played.steps[0].fields) == fields


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
def test_the_instructions_cover_what_the_papers_do(rule):
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
def test_the_prompt_tells_of_the_default_actions_only(play, agent, more, reflection):
    name, settings = AGENTS[agent]
    opening = play(name, **settings, **more, budget=1).openings[0]
    listed = re.findall(r"(?m)^- ([^:]*): .* Input: \{", opening)
    assert listed == [*TOLD, *reflection]


def test_hidden_actions_are_taken_when_a_model_names_them(play):
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
    lines = [say(action, **given) for action, given in hidden.items()]
    played = play("research", *lines, **CLASSIC)
    assert played.actions == [*hidden, "Final Answer"]
    assert "print(2 ** 3)\nprint(4)" in played.steps[2].observation
    assert [step.action for step in played.steps if not step.ok] == ["Check Submission"]


@pytest.mark.parametrize(
    ("action", "given"),
    [("Run Command", {"command": "ls"}), ("Restore Workspace", {"step_number": "1"})],
)
def test_actions_the_paper_does_not_have_are_no_actions(play, action, given):
    played = play("research", *[say(action, **given)] * 5, **CLASSIC)
    assert played.card.ending is Ending.STOPPED
    assert played.spent == 0
