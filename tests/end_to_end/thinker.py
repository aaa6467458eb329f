"""A small agent that asks a language model what to do, and the model's script."""

import json
import re

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from mlagentbench.agents.context import Context

_BETTER = {"TREES": "80", "LEARNING_RATE": "0.1", "MAX_DEPTH": "4"}


async def thinker(context: Context) -> None:
    """Do what the model says, one action per reply, until it is done."""
    messages = [
        ChatMessageSystem(content="Answer with JSON: action and input."),
        ChatMessageUser(content=context.problem),
    ]
    while True:
        reply = await context.ask(messages)
        wish = json.loads(reply.completion)
        step = await context.act(wish["action"], **wish["input"])
        left = context.remaining()
        messages.append(ChatMessageAssistant(content=reply.completion))
        messages.append(
            ChatMessageUser(content=f"{step.told}\n{left.steps} steps left")
        )
        if wish["action"] == "Final Answer":
            return


def script(messages):
    """Say what a model would say in a conversation like this."""
    turn = sum(message.role == "assistant" for message in messages)
    usage = {"input": 100 * (turn + 1), "output": 7}
    return {"text": json.dumps(_wish(turn, messages)), "usage": usage}


def _wish(turn, messages):
    if turn == 0:
        return {"action": "Read File", "input": {"file_name": "train.py"}}
    if turn <= 2 * len(_BETTER) and turn % 2 == 1:
        text = next(m.text for m in messages[3:] if "import" in m.text)
        code = text.rsplit("\n", 1)[0]
        for name, value in list(_BETTER.items())[: (turn + 1) // 2]:
            code = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", code)
        return {
            "action": "Write File",
            "input": {"file_name": "train.py", "content": code},
        }
    if turn <= 2 * len(_BETTER):
        return {"action": "Execute Script", "input": {"script_name": "train.py"}}
    return {"action": "Final Answer", "input": {"final_answer": "done"}}


async def gambler(context: Context) -> None:
    """Ask about a random number, and do what the model says, until it is done."""
    while True:
        asked = f"{context.remaining().steps} {context.rng.random()}"
        reply = await context.ask([ChatMessageUser(content=asked)])
        wish = json.loads(reply.completion)
        await context.act(wish["action"], **wish["input"])
        if wish["action"] == "Final Answer":
            return


def patient(messages):
    """List files four times before the final answer."""
    left = int(messages[0].text.split()[0])
    return json.dumps(_answer("patient") if left <= 16 else _LIST)


def hasty(messages):
    """Answer at once."""
    return json.dumps(_answer("hasty"))


_LIST = {"action": "List Files", "input": {"dir_path": "."}}


def _answer(text):
    return {"action": "Final Answer", "input": {"final_answer": text}}


async def forgetful(context: Context) -> None:
    """Do something else each time it is run: not deterministic on purpose."""
    import time

    await context.act("Read File", file_name="train.py")
    stamp = str(time.time_ns())
    await context.act("Write File", file_name="note.txt", content=stamp)
    await context.act("Execute Script", script_name="train.py")
    await context.act("Final Answer", final_answer="done")
