"""Models for the research agent: good ones, guided ones, one that does worse."""

from functools import partial

from fake_models.case import PROTOCOLS, Case, improved, last_python, reply, turns
from fake_models.paper import script_in

_THOUGHT = {"Thought": "Better constants may help."}


def _respond(protocol, messages):
    match turns(messages):
        case 0:
            return reply(protocol, "Read File", _THOUGHT, file_name="train.py")
        case 1:
            given = {
                "file_name": "train.py",
                "content": improved(last_python(messages)),
            }
            return reply(protocol, "Write File", _THOUGHT, **given)
        case 2:
            return reply(protocol, "Execute Script", _THOUGHT, script_name="train.py")
        case _:
            done = {"final_answer": "Better constants helped."}
            return reply(protocol, "Final Answer", _THOUGHT, **done)


text, tools, schema = (partial(_respond, protocol) for protocol in PROTOCOLS)


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
            return reply("schema", "Final Answer", _THOUGHT, final_answer="It helped.")


def worse(messages):
    """Ask for an edit that lowers the score, and give up."""
    prompt = messages[0].text
    if prompt.startswith("You edit Python scripts."):
        return f"```python\n{script_in(prompt).replace('TREES = 4', 'TREES = 1')}```"
    if "no better" not in messages[-1].text:
        return _edit("Use a single tree.")
    return reply("schema", "Final Answer", _THOUGHT, final_answer="It did not help.")


def _edit(instruction):
    return reply("schema", "Edit Script (AI)", _THOUGHT, edit_instruction=instruction)


def _edited(prompt):
    script = script_in(prompt).replace("import not_there\n", "")
    if "Import what is not there." in prompt:
        return f"```python\nimport not_there\n{script}```"
    return f"```python\n{improved(script)}```"


GUIDED = Case(
    "research",
    "fake_models.research:guided",
    {"protocol": "schema", "actions": "few", "patience": "3"},
)
CASES = [GUIDED] + [
    Case(
        "research",
        f"fake_models.research:{protocol}",
        {"protocol": protocol, "actions": "many"},
    )
    for protocol in PROTOCOLS
]
