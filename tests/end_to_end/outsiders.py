"""Agents that do to their own process what an outside agent may do to it."""

import asyncio
import os
import subprocess
import sys

from mlagentbench.agents.context import Context


async def everything(context: Context) -> None:
    """Use every part of the context."""
    from inspect_ai.model import ChatMessageUser

    print("a line of the agent's own")  # noqa: T201  # on purpose
    question = [ChatMessageUser(content=f"hello \ud83d {context.rng.random()}")]
    reply = await context.ask(question)
    step = await context.act(
        "Read File", said={"Thought": "t"}, file_name=reply.completion
    )
    assert step.observation == "seen"
    await context.reject("not an action", context.settings["why"])
    assert context.remaining().steps == context.task.budget.steps - 2
    assert context.protocol == context.speech == "text"
    await context.act("Final Answer", final_answer=context.problem)


async def at_once(context: Context) -> None:
    """Ask its model several times at once."""
    from inspect_ai.model import ChatMessageUser

    messages = ([ChatMessageUser(content=str(number))] for number in range(3))
    replies = await asyncio.gather(*(context.ask(one) for one in messages))
    await context.act("Read File", file_name=",".join(r.completion for r in replies))


async def nested(context: Context) -> None:
    """Raise in a function of its own."""
    _fails()


def _fails() -> None:
    raise ValueError("my bug")


async def exits(context: Context) -> None:
    sys.exit(3)


async def dies(context: Context) -> None:
    print("the last line")  # noqa: T201  # on purpose
    os._exit(7)


async def parent(context: Context) -> None:
    """Leave a process behind that would sleep for an hour."""
    child = subprocess.Popen(["sleep", "3600"])
    await context.act("Read File", file_name=str(child.pid))


async def talker(context: Context) -> None:
    """Send what is no message of the protocol."""
    channel = context._channel
    channel._connection.sendall(b'{"kind": "act", "id": 1, "action": []}\n')
    await asyncio.sleep(600)


async def shouter(context: Context) -> None:
    """Send one line that does not end."""
    while True:
        context._channel._connection.sendall(b"x" * 2**20)
