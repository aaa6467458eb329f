"""Good models for agents with one short conversation, and the cases of all agents."""

import json
import re
from functools import partial

from fake_models import paper, research
from fake_models.case import (
    BETTER,
    PROTOCOLS,
    Case,
    improved,
    last_python,
    reply,
    turns,
)

_SHOWN = re.compile(r"```+text\n(.*?)\n```+", re.DOTALL)
_FAILS = "import nonsense_that_is_not_there\n"
_EDIT = "; ".join(
    f"sed -i 's/^{name} = .*/{name} = {value}/' train.py"
    for name, value in BETTER.items()
)


def _bash(protocol, messages):
    commands = ["cat train.py && python train.py", f"{_EDIT}; python train.py"]
    if turns(messages) < len(commands):
        return reply(protocol, "Run Command", {}, command=commands[turns(messages)])
    return reply(protocol, "Final Answer", {}, final_answer="Better constants helped.")


bash_text, bash_tools, bash_schema = (partial(_bash, name) for name in PROTOCOLS)


def _action(messages):
    match turns(messages):
        case 0 | 3:
            return "Execute Script", {"script_name": "train.py"}
        case 1:
            return "Read File", {"file_name": "train.py"}
        case 2:
            better = improved(last_python(messages))
            return "Write File", {"file_name": "train.py", "content": better}
        case _:
            return "Final Answer", {"final_answer": "Better constants helped."}


def langchain(messages):
    """Reply with a tool call."""
    name, given = _action(messages)
    return reply("tools", name, {}, **given)


def autogpt(messages):
    """Reply in AutoGPT's JSON."""
    name, args = _action(messages)
    thoughts = {
        "text": "Better constants may help.",
        "reasoning": "They are small.",
        "plan": "- change them\n- execute",
        "criticism": "I guess.",
    }
    command = {"name": name, "args": args}
    return {"text": json.dumps({"thoughts": thoughts, "command": command})}


def tree(messages):
    """Write a script: the first improvement fails, the fixed one is better."""
    question = messages[-1].text
    shown = _SHOWN.search(question)[1]
    if "This script fails" in question:
        script = improved(shown.replace(_FAILS, ""))
    elif "TREES = 80" in shown:
        return {"text": "I have no better idea."}
    else:
        script = _FAILS + shown
    return {"text": f"Here it is.\n\n```python\n{script}\n```\n"}


CASES = [
    *research.CASES,
    *paper.CASES,
    Case("tree", "fake_models.cases:tree"),
    Case("tree", "fake_models.cases:tree", {"ideas": "generic", "drafts": "1"}),
    *(Case("bash", f"fake_models.cases:bash_{p}", {"protocol": p}) for p in PROTOCOLS),
    Case("autogpt", "fake_models.cases:autogpt", {"protocol": "text"}),
    Case("autogpt", "fake_models.cases:autogpt", {"protocol": "schema"}),
    Case("langchain", "fake_models.cases:langchain"),
]
"""Every agent that uses a model, in each of its protocols."""
