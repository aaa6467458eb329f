"""Where many cases are heard: one warmed-up server per task, started when needed."""

import asyncio
import contextlib
import itertools
import os
import sys
from pathlib import Path
from typing import cast

from mlagentbench.core.errors import GraderError
from mlagentbench.run.judges.alone import end, hear_alone
from mlagentbench.run.judges.case import (
    LONGEST_LINE,
    READY,
    Case,
    Heard,
    quiet_environment,
)

_PATIENCE = 30
"""Seconds beyond a case's own; only a server that hangs needs them."""


class JudgeServer:
    """The harness's end of one server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._input = cast(asyncio.StreamWriter, process.stdin)
        self._output = cast(asyncio.StreamReader, process.stdout)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Heard]] = {}
        self._listener = asyncio.create_task(self._listen())

    @property
    def gone(self) -> bool:
        """Whether it can hear no more cases."""
        return self._listener.done()

    async def hear(self, case: Case) -> Heard:
        """Have one case heard, beside those under way."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        line = case.model_copy(update={"number": number}).model_dump_json()
        try:
            self._input.write(line.encode() + b"\n")
            async with asyncio.timeout(case.seconds + _PATIENCE):
                return await self._waiting[number]
        except TimeoutError:
            raise GraderError("the judges' process does not answer") from None
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        """End it, and whatever it is hearing."""
        await end(self._process)
        await self._listener

    async def _listen(self) -> None:
        async for line in self._output:
            heard = Heard.model_validate_json(line)
            self._settle(heard.number, heard)
        code = await self._process.wait()
        gone = GraderError(f"the judges' process ended by itself, exit {code}")
        for number in [*self._waiting]:
            self._settle(number, gone)

    def _settle(self, number: int, what: Heard | GraderError) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.done():
            return
        if isinstance(what, Heard):
            waiting.set_result(what)
        else:
            waiting.set_exception(what)


class JudgeRoom:
    """Finds the server for each case; where there can be none, it is heard alone."""

    def __init__(self) -> None:
        self._servers: dict[tuple[Path, str], JudgeServer | None] = {}
        self._starting = asyncio.Lock()

    async def hear(self, case: Case) -> Heard:
        """Have one case heard."""
        server = await self._server(case)
        return await (hear_alone(case) if server is None else server.hear(case))

    async def close(self) -> None:
        """End every server."""
        for server in self._servers.values():
            if server is not None:
                await server.close()

    async def _server(self, case: Case) -> JudgeServer | None:
        key = (case.folder, case.edition)
        async with self._starting:
            known = self._servers.get(key)
            if key not in self._servers or (known is not None and known.gone):
                self._servers[key] = await _started(case)
        return self._servers[key]


async def _started(case: Case) -> JudgeServer | None:
    """Start a server; None where its grader cannot be shared by forking."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.run.judges.server"),
        *(str(case.folder), case.edition, str(os.getpid())),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
        env=quiet_environment(),
    )
    said = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(case.seconds):
            said = await cast(asyncio.StreamReader, process.stdout).readline()
    if said == READY:
        return JudgeServer(process)
    await end(process)
    return None
