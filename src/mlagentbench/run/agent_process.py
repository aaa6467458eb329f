"""The process of an outside agent: imports it, calls it, and relays its calls.

Messages are JSON objects, one per line, over a socket whose descriptor is the first
argument. The harness sends `Start`, then one `Reply` per request. This process sends
`Ready` when the agent is imported, requests while it runs, and `Returned` or `Crashed`
at its end. When the harness closes its side, the agent is cancelled.
"""

import asyncio
import importlib
import itertools
import json
import os
import random
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import NonNegativeInt

from mlagentbench.agents import Agent, ProtocolName, Remaining
from mlagentbench.core import Fault, Record, Step, Task, exit_with_parent, truncate

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
    from inspect_ai.tool import ToolInfo

TRACEBACK_CHARACTERS = 4_000
"""Of the end of a traceback, which names the exception."""

Document = dict[str, Any]
"""A JSON object that the receiver validates."""


class Start(Record):
    """Everything an agent is given that does not change."""

    target: str
    """`module:function`."""
    path: list[str]
    """The module search path of the harness."""
    task: Task
    problem: str
    settings: dict[str, str]
    protocol: ProtocolName
    rng: tuple[int, tuple[int, ...], float | None]
    """The state of the random generator."""


class Reply(Record):
    """The answer to the request of the same id."""

    id: int
    result: Document


class Ready(Record):
    """The agent's module is imported."""

    kind: Literal["ready"] = "ready"


class Ask(Record):
    """`context.ask`; its parts are Inspect's records."""

    kind: Literal["ask"] = "ask"
    id: int
    role: str
    kept: NonNegativeInt
    """How many messages are the first ones of the request before, so that a long
    conversation is not sent again at every step."""
    messages: list[Document]
    """Those that follow."""
    tools: list[Document]
    config: Document | None


class Act(Record):
    """`context.act`."""

    kind: Literal["act"] = "act"
    id: int
    action: str
    said: dict[str, str] | None
    given: Document


class Reject(Record):
    """`context.reject`."""

    kind: Literal["reject"] = "reject"
    id: int
    reply: str
    why: str
    counts: bool
    fault: Fault


class AskRemaining(Record):
    """`context.remaining`."""

    kind: Literal["remaining"] = "remaining"
    id: int


class Returned(Record):
    """The agent's function returned."""

    kind: Literal["returned"] = "returned"


class Crashed(Record):
    """The agent's code raised."""

    kind: Literal["crashed"] = "crashed"
    error: str
    traceback: str


Request = Ask | Act | Reject | AskRemaining
Message = Ready | Request | Returned | Crashed
Received = TypeVar("Received", bound=Record)


class Channel:
    """This process's end of the socket; a thread hands replies to their requests."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Document]] = {}
        self.ids = itertools.count(1)

    def receive(self, of: type[Received]) -> Received | None:
        """Return the next message; None if the harness has closed its side."""
        line = self._lines.readline()
        return of.model_validate(json.loads(line)) if line else None

    def send(self, message: Message) -> None:
        # JSON escapes keep half characters, which an encoder would refuse.
        line = json.dumps(message.model_dump(mode="json")) + "\n"
        with self._lock:
            self._connection.sendall(line.encode())

    def request(self, message: Request) -> "Future[Document]":
        """Send a request; the harness's reply becomes the future's result."""
        reply: Future[Document] = Future()
        self._waiting[message.id] = reply
        self.send(message)
        return reply

    def hand_out_replies(self) -> None:
        """Resolve requests until the harness closes its side; cancel the others."""
        while (reply := self.receive(Reply)) is not None:
            self._waiting.pop(reply.id).set_result(reply.result)
        for unanswered in tuple(self._waiting.values()):
            unanswered.cancel()


class RemoteContext:
    """The context of an outside agent; every call is a request to the harness."""

    def __init__(self, start: Start, channel: Channel) -> None:
        self.task = start.task
        self.problem = start.problem
        self.settings: Mapping[str, str] = start.settings
        self.protocol = start.protocol
        self.speech = start.protocol
        self.rng = random.Random()
        self.rng.setstate(start.rng)
        self._channel = channel
        self._conversation: list[Document] = []
        self._asking = threading.Lock()

    def remaining(self) -> Remaining:
        request = AskRemaining(id=next(self._channel.ids))
        return Remaining.model_validate(self._channel.request(request).result())

    async def ask(
        self,
        messages: "Sequence[ChatMessage]",
        *,
        role: str = "main",
        tools: "Sequence[ToolInfo]" = (),
        config: "GenerateConfig | None" = None,
    ) -> "ModelOutput":
        from inspect_ai.model import ModelOutput

        conversation, offered = (
            [one.model_dump(mode="json", exclude_none=True) for one in part]
            for part in (messages, tools)
        )
        # An agent may ask from several threads; the harness keeps one conversation.
        with self._asking:
            kept = _common_length(self._conversation, conversation)
            self._conversation = conversation
            request = Ask(
                id=next(self._channel.ids),
                role=role,
                kept=kept,
                messages=conversation[kept:],
                tools=offered,
                config=config and config.model_dump(mode="json", exclude_none=True),
            )
            reply = self._channel.request(request)
        return ModelOutput.model_validate(await asyncio.wrap_future(reply))

    async def act(
        self, action: str, *, said: Mapping[str, str] | None = None, **given: str
    ) -> Step:
        request = Act(
            id=next(self._channel.ids),
            action=action,
            said=None if said is None else dict(said),
            given=given,
        )
        return Step.model_validate(await self._reply(request))

    async def reject(
        self, reply: str, why: str, *, counts: bool = True, fault: Fault = "bad_reply"
    ) -> Step:
        request = Reject(
            id=next(self._channel.ids), reply=reply, why=why, counts=counts, fault=fault
        )
        return Step.model_validate(await self._reply(request))

    async def _reply(self, request: Request) -> Document:
        return await asyncio.wrap_future(self._channel.request(request))


def _common_length(first: list[Document], second: list[Document]) -> int:
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def main() -> None:
    """Run one agent to its end."""
    descriptor, parent = map(int, sys.argv[1:])
    exit_with_parent(parent)
    # A process that the agent starts must not keep the socket open.
    os.set_inheritable(descriptor, False)  # noqa: FBT003  # its signature
    channel = Channel(socket.socket(fileno=descriptor))
    start = channel.receive(Start)
    if start is None:
        return
    try:
        sys.path[:] = start.path
        module, _, function = start.target.partition(":")
        agent = cast("Agent", getattr(importlib.import_module(module), function))
        channel.send(Ready())
        asyncio.run(_call(agent, RemoteContext(start, channel), channel))
        channel.send(Returned())
    except BaseException as error:  # noqa: BLE001  # an agent may raise anything at all
        crash = Crashed(error=error_text(error), traceback=own_traceback(error))
        with suppress(OSError):  # The harness has closed its side.
            channel.send(crash)


async def _call(agent: Agent, context: RemoteContext, channel: Channel) -> None:
    loop = asyncio.get_running_loop()
    run = asyncio.ensure_future(agent(context))

    def listen() -> None:
        channel.hand_out_replies()
        loop.call_soon_threadsafe(run.cancel)

    threading.Thread(target=listen, daemon=True).start()
    await run


def error_text(error: BaseException) -> str:
    """Return an exception's type and message."""
    return truncate(f"{type(error).__name__}: {error}", TRACEBACK_CHARACTERS)


_HARNESS = (str(Path(__file__).parent), str(Path(asyncio.__file__).parent))
_IMPORT = ("<frozen importlib", importlib.__file__)


def own_traceback(error: BaseException) -> str:
    """Return the end of a traceback, without the frames that called the agent."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename.startswith(_HARNESS + _IMPORT):
        frames = frames.tb_next
    error = error.with_traceback(frames or error.__traceback__)
    return "".join(traceback.format_exception(error))[-TRACEBACK_CHARACTERS:]


if __name__ == "__main__":
    main()
