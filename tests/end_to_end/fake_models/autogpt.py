"""A good model for AutoGPT."""

import json

from fake_models.case import Case, improved, last_python, turns


def respond(messages):
    """Reply in AutoGPT's JSON."""
    name, args = _command(messages)
    thoughts = {
        "text": "Better constants may help.",
        "reasoning": "They are small.",
        "plan": "- change them\n- execute",
        "criticism": "I guess.",
    }
    reply = {"thoughts": thoughts, "command": {"name": name, "args": args}}
    return {"text": json.dumps(reply)}


def _command(messages):
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


CASES = [
    Case("autogpt", "fake_models.autogpt:respond", {"protocol": protocol})
    for protocol in ("text", "schema")
]
