"""What a good model says to the modern research agent."""

from voices.case import Case, improved
from voices.classic import script_in
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


def guided(messages):
    """Ask for an edit that breaks the script, for the same again, for a good one."""
    if messages[0].text.startswith("You edit Python scripts."):
        return _edited(messages[0].text)
    match turns(messages):
        case 0:
            return _edit("Import what is not there.")
        case 1 if "tried before" not in messages[-1].text:
            return _edit("Import what is not there.")
        case 1:
            return _edit("Use better constants.")
        case _:
            return say("schema", "Final Answer", _THOUGHT, final_answer="It helped.")


def worse(messages):
    """Ask for what is worse, and give up."""
    asked = messages[0].text
    if asked.startswith("You edit Python scripts."):
        return f"```python\n{script_in(asked).replace('TREES = 4', 'TREES = 1')}```"
    if "no better" not in messages[-1].text:
        return _edit("Use a single tree.")
    return say("schema", "Final Answer", _THOUGHT, final_answer="It did not help.")


def _edit(instruction):
    return say("schema", "Edit Script (AI)", _THOUGHT, edit_instruction=instruction)


def _edited(asked):
    script = script_in(asked).replace("import not_there\n", "")
    if "Import what is not there." in asked:
        return f"```python\nimport not_there\n{script}```"
    return f"```python\n{improved(script)}```"


GUIDED = Case(
    "research",
    "voices.modern:guided",
    {"protocol": "schema", "actions": "few", "patience": "3"},
)
_MANY = [
    Case(
        "research",
        f"voices.modern:{one}",
        {"protocol": one, "actions": "many"},
    )
    for one in ("text", "tools", "schema")
]
CASES = [GUIDED, *_MANY]
