"""What a good model says in AutoGPT's format."""

import json

from voices.case import Case, improved
from voices.speaking import last_python, turns


def speaking(messages):
    """Speak in AutoGPT's JSON."""
    name, args = _command(messages)
    thoughts = {
        "text": "Better constants may help.",
        "reasoning": "They are small.",
        "plan": "- change them\n- execute",
        "criticism": "I guess.",
    }
    said = {"thoughts": thoughts, "command": {"name": name, "args": args}}
    return {"text": json.dumps(said)}


def _command(messages):
    match turns(messages):
        case 0:
            return "Execute Script", {"script_name": "train.py"}
        case 1:
            return "Read File", {"file_name": "train.py"}
        case 2:
            better = improved(last_python(messages))
            return "Write File", {"file_name": "train.py", "content": better}
        case 3:
            return "Execute Script", {"script_name": "train.py"}
        case _:
            return "Final Answer", {"final_answer": "Better constants helped."}


CASES = [
    Case("autogpt", "voices.autogpt:speaking", {"protocol": one})
    for one in ("text", "schema")
]
