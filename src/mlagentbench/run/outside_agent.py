"""Outside agents: `module:function` in an OS process of its own.

The harness keeps the models, the sandbox and the clock. What the process sends is
validated and never unpickled. However a run ends, nothing of the process is left.
"""

import asyncio
import codecs
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Annotated, Protocol

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo
from pydantic import Field, TypeAdapter, ValidationError

from mlagentbench.agents import Context, Remaining, find_agent, load_agent
from mlagentbench.core import (
    Record,
    Step,
    UsageError,
    harmless,
    kill_group,
    start_group,
)
from mlagentbench.run.agent_process import (
    TRACEBACK_CHARACTERS,
    Act,
    Ask,
    AskRemaining,
    Crashed,
    Message,
    Ready,
    Reject,
    Reply,
    Request,
    Returned,
    Start,
)

logger = logging.getLogger(__name__)

_MESSAGE: TypeAdapter[Message] = TypeAdapter(
    Annotated[Message, Field(discriminator="kind")]
)
_CHAT: TypeAdapter[list[ChatMessage]] = TypeAdapter(list[ChatMessage])
_TOOLS: TypeAdapter[list[ToolInfo]] = TypeAdapter(list[ToolInfo])

_MESSAGE_BYTES = 64 * 2**20
_OPEN_REQUESTS = 64
_ANSWERS_AT_ONCE = 1_000
"""Answers of `remaining()` in a row; further ones wait `_PAUSE`, which bounds the
trace of an agent that asks in a loop."""
_PAUSE = 0.02
_READ_BYTES = 2**16
_SHOWN_BYTES = 2**20
"""Of an agent's output, which is then read slowly and no longer shown."""
_TO_END = 2.0
"""Seconds between the cancellation of an agent and the kill of its process."""


class AgentCrash(Exception):  # noqa: N818  # not an error of the harness
    """The agent's code raised, or its process ended early."""

    def __init__(self, reason: str, traceback: str) -> None:
        super().__init__(reason)
        self.traceback = traceback


class ServedContext(Context, Protocol):
    """A context whose clock can be paused while the agent's process starts."""

    def paused(self) -> AbstractContextManager[None]:
        """Stop the agent's clock while the harness works for it."""


RunnableAgent = Callable[[ServedContext], Awaitable[None]]


def runnable_agent(name: str) -> RunnableAgent:
    """Return an agent as the harness calls it; check that it can be imported."""
    entry = find_agent(name)
    if entry.target.startswith("__main__:"):
        raise UsageError(
            f"the agent {name} runs in another process: put it into a module file"
        )
    function = load_agent(entry)
    if not entry.is_outside:
        return function

    async def in_own_process(context: ServedContext) -> None:
        await run_outside(entry.target, context)

    return in_own_process


async def run_outside(target: str, context: ServedContext) -> None:
    """Run an outside agent until it returns; raise `AgentCrash` if it cannot."""
    async with _started(target, context) as agent:
        try:
            await agent.serve()
        except BaseExceptionGroup as group:
            # Requests are served at the same time; the first failure ends the run.
            raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


@asynccontextmanager
async def _started(
    target: str, context: ServedContext
) -> AsyncIterator["_AgentProcess"]:
    ours, theirs = socket.socketpair()
    # -P: the harness's search path holds, whatever is in the working directory.
    command = (sys.executable, "-uP", "-m", "mlagentbench.run.agent_process")
    with theirs:
        number = theirs.fileno()
        child = await start_group(
            *command, str(number), str(os.getpid()), pass_fds=(number,)
        )
    streams = await asyncio.open_unix_connection(sock=ours, limit=_MESSAGE_BYTES)
    agent = _AgentProcess(context, child, *streams)
    try:
        with context.paused():
            await agent.start(target)
        yield agent
    finally:
        # The harness may cancel this task again while it waits.
        with context.paused():
            await asyncio.shield(asyncio.create_task(agent.end()))


class _AgentProcess:
    """The harness's side of one agent's process."""

    def __init__(
        self,
        context: ServedContext,
        child: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._context = context
        self._child = child
        self._reader = reader
        self._writer = writer
        self._answers = 0
        """Of `remaining()`, since the last other request."""
        self._conversation: list[ChatMessage] = []
        """The messages of the last `Ask`."""
        self._tail = ""
        self._showing = asyncio.create_task(self._show_output())

    async def start(self, target: str) -> None:
        """Import the agent in its process."""
        context = self._context
        start = Start(
            target=target,
            path=sys.path,
            task=context.task,
            problem=context.problem,
            settings=dict(context.settings),
            protocol=context.protocol,
            rng=context.rng.getstate(),
        )
        await self._send(start)
        match await self._receive():
            case Ready():
                logger.debug("process %d runs %s", self._child.pid, target)
            case Crashed() as crash:
                raise AgentCrash(crash.error, crash.traceback)
            case _:
                raise AgentCrash("its process acts before it is ready", "")

    async def serve(self) -> None:
        """Answer requests until the agent returns."""
        async with asyncio.TaskGroup() as group:
            tasks: set[asyncio.Task[None]] = set()
            while True:
                message = await self._receive()
                match message:
                    case Returned():
                        break
                    case Crashed():
                        raise AgentCrash(message.error, message.traceback)
                    case Ready():
                        raise AgentCrash("its process sent an invalid message", "")
                task = group.create_task(self._answer(message))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                if len(tasks) >= _OPEN_REQUESTS:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()

    async def end(self) -> None:
        """Cancel the agent, let it clean up for a moment, then kill all of it."""
        self._writer.close()
        # After Ctrl-C the event loop cancels this, too, and the child would stay open.
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(_TO_END):
                await self._child.wait()
        kill_group(self._child.pid)
        await self._child.wait()
        await asyncio.wait({self._showing}, timeout=_TO_END)
        self._showing.cancel()

    async def _answer(self, request: Request) -> None:
        context = self._context
        result: Step | ModelOutput | Remaining
        if not isinstance(request, AskRemaining):
            self._answers = 0
        match request:
            case Act():
                result = await context.act(
                    request.action, said=request.said, **request.given
                )
            case Reject():
                result = await context.reject(
                    request.reply, request.why, counts=request.counts,
                    fault=request.fault,
                )  # fmt: skip
            case Ask():
                result = await self._ask(request)
            case AskRemaining():
                self._answers += 1
                if self._answers > _ANSWERS_AT_ONCE:
                    await asyncio.sleep(_PAUSE)
                result = context.remaining()
        document = result.model_dump(mode="json", exclude_none=True)
        await self._send(Reply(id=request.id, result=document))

    async def _receive(self) -> Message:
        """Return the next message; raise `AgentCrash` if none can come."""
        try:
            line = await self._reader.readline()
        except ValueError:
            raise AgentCrash(
                "its process sent a message that is too long", ""
            ) from None
        except ConnectionError:
            line = b""
        if not line.endswith(b"\n"):
            raise AgentCrash(await self._why_it_ended(), self._tail)
        try:
            return _MESSAGE.validate_python(json.loads(line))
        except (ValueError, RecursionError):
            raise AgentCrash("its process sent an invalid message", "") from None

    async def _ask(self, request: Ask) -> ModelOutput:
        try:
            new = _CHAT.validate_python(request.messages)
            tools = _TOOLS.validate_python(request.tools)
            config = GenerateConfig.model_validate(request.config or {})
        except ValidationError as error:
            reason = f"its model request is invalid: {error.errors()[0]['msg']}"
            raise AgentCrash(reason, "") from None
        self._conversation = [*self._conversation[: request.kept], *new]
        return await self._context.ask(
            self._conversation, role=request.role, tools=tools, config=config
        )

    async def _send(self, message: Record) -> None:
        document = message.model_dump(mode="json")
        with suppress(ConnectionError):  # `_receive` reports a process that has ended.
            self._writer.write(json.dumps(document).encode() + b"\n")
            await self._writer.drain()

    async def _why_it_ended(self) -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TO_END):
                await self._child.wait()
        await asyncio.wait({self._showing}, timeout=_TO_END)
        code = self._child.returncode
        if code is None:
            return "its process closed the connection"
        if code < 0:
            return f"its process was killed by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}"

    async def _show_output(self) -> None:
        """Print the agent's output on standard error; slow down one that floods it."""
        assert self._child.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        shown = 0
        while data := await self._child.stdout.read(_READ_BYTES):
            text = harmless(decoder.decode(data))
            self._tail = (self._tail + text)[-TRACEBACK_CHARACTERS:]
            if shown < _SHOWN_BYTES:
                sys.stderr.write(text)
                sys.stderr.flush()
            else:
                await asyncio.sleep(_PAUSE)
            if shown < _SHOWN_BYTES <= shown + len(data):
                logger.warning("more output of the agent is not shown")
            shown += len(data)
