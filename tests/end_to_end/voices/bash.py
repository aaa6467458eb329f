"""What a good model says when all it has is a shell."""

from voices.case import BETTER, Case
from voices.speaking import say, turns

_EDIT = "; ".join(
    f"sed -i 's/^{name} = .*/{name} = {value}/' train.py"
    for name, value in BETTER.items()
)


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
    commands = ["cat train.py && python train.py", f"{_EDIT}; python train.py"]
    if turns(messages) < len(commands):
        return say(language, "Run Command", {}, command=commands[turns(messages)])
    return say(language, "Final Answer", {}, final_answer="Better constants helped.")


CASES = [
    Case("bash", f"voices.bash:{one}", {"protocol": one})
    for one in ("text", "tools", "schema")
]
