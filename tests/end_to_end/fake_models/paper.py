"""Models for the paper's agents: a good one, and one that replies as a test says."""

import json
import re
from functools import partial

from fake_models.case import PROTOCOLS, Case, improved, reply, turns

FIELDS = {
    "Reflection": "The observation is as expected.",
    "Research Plan and Status": "1. Measure the starter. **2. More trees.**",
    "Fact Check": "Nothing here is a guess.",
    "Thought": "I take the next step of the plan.",
}
ALL_FIELDS = list(FIELDS)
FORMAT = [*ALL_FIELDS, "Action", "Action Input"]
CLASSIC = {"style": "classic"}
TEXT = {"protocol": "text"}
AGENTS = {
    "act": ("act", TEXT),
    "react": ("react", TEXT),
    "research": ("research", CLASSIC),
}
_REQUESTS = (
    ("Execute Script", {"script_name": "train.py"}),
    (
        "Edit Script (AI)",
        {
            "script_name": "train.py",
            "edit_instruction": "Use more trees.",
            "save_name": "train.py",
        },
    ),
    ("Execute Script", {"script_name": "train.py"}),
    ("Final Answer", {"final_answer": "More trees are better."}),
)


def _respond(protocol, messages):
    """Measure, edit, measure and submit; reply as editor and helper too."""
    if not _is_main(messages):
        return _respond_as_helper(messages)
    action, given = _REQUESTS[min(turns(messages), len(_REQUESTS) - 1)]
    return reply(protocol, action, _fields(messages), **given)


text, tools, schema = (partial(_respond, protocol) for protocol in PROTOCOLS)


def _respond_as_helper(messages):
    prompt = messages[0].text
    if prompt.startswith("You edit Python scripts."):
        return f"Here it is:\n```python\n{improved(script_in(prompt))}```\n"
    return "The script was run and works."


def _is_main(messages):
    return messages[0].text.startswith("You are a researcher in machine learning.")


def _fields(messages):
    """Return the fields that the prompt asks for."""
    prompt = messages[0].text
    keys = {name: name.lower().replace(" ", "_") for name in FIELDS}
    return {
        name: text
        for name, text in FIELDS.items()
        if f"{name}: ..." in prompt or f'"{keys[name]}": "..."' in prompt
    }


def script_in(prompt):
    """Return the script in the prompt of an editor."""
    begins = r"(?:The script|Its lines [^\n]*):\n(`{3,})text\n"
    return re.search(rf"{begins}(.*?\n)\1\n", prompt, re.DOTALL).group(2)


class Replies:
    """The replies of a test, and the prompts that they answered."""

    def start(self, replies=()):
        self.replies = list(replies)
        self.prompts = []
        """Messages of each request of the agent itself."""
        self.helper_prompts = []


REPLIES = Replies()


def respond(messages):
    """Give the next reply of the test, and then the final answer."""
    if not _is_main(messages):
        REPLIES.helper_prompts.append(messages[0].text)
        return _respond_as_helper(messages)
    REPLIES.prompts.append(list(messages))
    if REPLIES.replies:
        return REPLIES.replies.pop(0)
    action, given = _REQUESTS[-1]
    return reply("text", action, _fields(messages), **given)


def numbered(action="List Files", number=0, fields=ALL_FIELDS, **given):
    """Return a reply in text; the number in its fields tells it from others."""
    if action == "List Files":
        given = {"dir_path": "."}
    lines = [f"{name}: {name} number {number}" for name in fields]
    lines += [f"Action: {action}", f"Action Input: {json.dumps(given)}"]
    return "\n".join(lines)


def unreadable(number=0):
    """Return a reply whose Action Input is not JSON."""
    return numbered(number=number).replace('{"dir_path": "."}', "right here")


def full_text(messages):
    """Return the text of all messages of a request."""
    return "\n".join(message.text for message in messages)


def numbers(messages, field="Thought"):
    """Return the numbers of the replies that a prompt still shows."""
    return [int(n) for n in re.findall(rf"{field} number (\d+)", full_text(messages))]


def _cases(agent, **settings):
    return [
        Case(agent, f"fake_models.paper:{protocol}", {**settings, "protocol": protocol})
        for protocol in PROTOCOLS
    ]


CASES = [
    *_cases("act"),
    *_cases("react"),
    *_cases("research", style="classic"),
    Case("research", "fake_models.paper:text", {"style": "classic", "log": "on"}),
]
