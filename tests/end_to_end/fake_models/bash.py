"""A good model for the shell agent."""

from functools import partial

from fake_models.case import BETTER, PROTOCOLS, Case, reply, turns

_EDIT = "; ".join(
    f"sed -i 's/^{name} = .*/{name} = {value}/' train.py"
    for name, value in BETTER.items()
)


def _respond(protocol, messages):
    commands = ["cat train.py && python train.py", f"{_EDIT}; python train.py"]
    if turns(messages) < len(commands):
        return reply(protocol, "Run Command", {}, command=commands[turns(messages)])
    return reply(protocol, "Final Answer", {}, final_answer="Better constants helped.")


text, tools, schema = (partial(_respond, protocol) for protocol in PROTOCOLS)

CASES = [
    Case("bash", f"fake_models.bash:{protocol}", {"protocol": protocol})
    for protocol in PROTOCOLS
]
