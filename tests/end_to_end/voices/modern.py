"""What a good model says to the modern research agent."""

from voices.case import Case, improved
from voices.speaking import last_python, say, turns

_THOUGHT = {"Thought": "Better constants may help."}


def text(messages):
    """Speak in fields."""
    return _move("text", messages)


def tools(messages):
    """Speak by calling tools."""
    return _move("tools", messages)


def schema(messages):
    """Speak in JSON."""
    return _move("schema", messages)


def _move(language, messages):
    match turns(messages):
        case 0:
            return say(language, "Read File", _THOUGHT, file_name="train.py")
        case 1:
            better = improved(last_python(messages))
            return say(
                language, "Write File", _THOUGHT, file_name="train.py", content=better
            )
        case 2:
            return say(language, "Execute Script", _THOUGHT, script_name="train.py")
        case _:
            done = {"final_answer": "Better constants helped."}
            return say(language, "Final Answer", _THOUGHT, **done)


CASES = [
    Case(
        "research",
        f"voices.modern:{one}",
        {"protocol": one, "actions": "many"},
    )
    for one in ("text", "tools", "schema")
]
