"""The parts of a study that run on the nodes of a Ray cluster.

A task starts the process of one cell and passes its events on. Two actors serve the
tasks: one reports progress to the driver, one limits the connections to providers.
"""

import asyncio
import io
import json
import os
import shutil
import tarfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from mlagentbench.core import default_cache, scratch_root
from mlagentbench.study.cell_child import CellChild
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome
from mlagentbench.study.store import open_store

RayObject = Any
"""An actor, a reference or a module of Ray, which has no usable types."""

NAMESPACE = "mlagentbench"
"""The namespace of the actors, in which all drivers of a study find its limiter."""

RENEW_SECONDS = 5.0
_EXPIRE_SECONDS = 20.0
_WITHOUT_STORE = "without the study's folder: starts again if the node is lost"


def run_cell(
    given: str, keys: Mapping[str, str], harness: str, token: str, progress: RayObject
) -> tuple[str, bytes | None]:
    """Run a cell; return its last event, and the files that it could not store.

    This is the task that Ray runs. Requests and events are JSON, so that a node with
    another version of the harness can still read them and refuse. `token` names this
    start of the cell.
    """
    request = CellRequest.model_validate_json(given)
    installed = version("mlagentbench")
    if installed != harness:
        reason = (
            f"{_place()} has mlagentbench {installed}, and the driver has {harness};"
            " install the same version"
        )
        return _ended(request, Outcome.FAILED, reason), None
    if _result(progress.is_cancelled.remote(token)):
        return _ended(request, Outcome.INTERRUPTED, "cancelled"), None
    place = _place()
    if sees_store(request):
        return _run(request, place, keys, token, progress), None
    refused = _result(progress.ask_lease.remote(token))
    if refused is not None:
        return _ended(request, Outcome(refused)), None
    own = request.model_copy(update={"store": str(_own_store(request))})
    ended = _run(own, f"{place} {_WITHOUT_STORE}", keys, token, progress)
    return ended, _pack_results(own)


def sees_store(request: CellRequest) -> bool:
    """Return whether this node has the study's folder, and not one of its name."""
    if "://" in request.store:
        return True
    found = open_store(request.store).read("study.json")
    try:
        return found is not None and json.loads(found)["id"] == request.study
    except (ValueError, KeyError, TypeError):
        return False


def unpack_results(packed: bytes, folder: Path) -> None:
    """Write the files that a task returned to a new folder."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        # The filter refuses links and names that leave the folder.
        files.extractall(folder, filter="data")


def _run(
    request: CellRequest,
    place: str,
    keys: Mapping[str, str],
    token: str,
    progress: RayObject,
) -> str:
    limiter = None
    if request.connections:
        limiter = StudyLimiter(request.study, request.connections)
    child = CellChild(
        request, place=place, env={**_environment(), **keys}, limiter=limiter
    )
    threading.Thread(
        target=_stop_if_cancelled, args=(child, token, progress), daemon=True
    ).start()
    last = None
    try:
        for event in child.events():
            last = event.model_dump_json()
            if event.kind != "ended":
                progress.report.remote(last)
    finally:
        progress.end.remote(token)
        if limiter is not None:
            limiter.close()
    assert last is not None  # the child's last event is its end
    return last


def _result(call: RayObject) -> Any:  # noqa: ANN401  # of any method
    """Wait for a call of an actor.

    Ray gives the CPU of a task that waits in `ray.get` to another task.
    """
    return call.future().result()


def _stop_if_cancelled(child: CellChild, token: str, progress: RayObject) -> None:
    import ray

    # Without the actor there is no driver, and Ray ends this process.
    with suppress(ray.exceptions.RayError):
        if _result(progress.until_cancelled.remote(token)):
            child.stop()


_ADDED = ("OMP_NUM_THREADS", "PYTHONBREAKPOINT")


def _environment() -> dict[str, str]:
    """Return the node's environment without the settings that Ray adds to it."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RAY_") and name not in _ADDED
    }


def _place() -> str:
    import ray

    node = ray.get_runtime_context().get_node_id()
    return f"Ray node {ray.util.get_node_ip_address()} ({node[:6]})"


def _own_store(request: CellRequest) -> Path:
    """Return a folder of this node that stands in for the study's."""
    folder = scratch_root(default_cache()) / "studies" / request.study
    store = open_store(str(folder))
    store.create("study.json", json.dumps({"id": request.study}).encode())
    return folder


def _pack_results(request: CellRequest) -> bytes:
    """Return the bundle in this node's own folder, or the records of a failure."""
    store = open_store(request.store)
    cell = request.cell.id
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        if store.is_published(cell):
            folder = store.open_experiment(cell)
            files.add(folder, arcname=".")
            shutil.rmtree(folder)
        else:
            for name in ("failed.json", "output.log"):
                if (content := store.read(f"work/{cell}/{name}")) is not None:
                    about = tarfile.TarInfo(name)
                    about.size = len(content)
                    files.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def _ended(request: CellRequest, outcome: Outcome, reason: str = "") -> str:
    event = CellEvent(
        cell=request.cell.id, kind="ended", outcome=outcome, reason=reason
    )
    return event.model_dump_json()


class ProgressActor:
    """Passes events and questions of tasks to the driver, and its answers back."""

    def __init__(self) -> None:
        self._news: list[tuple[str, str]] = []
        self._is_new = asyncio.Event()
        self._cancelled: set[str] = set()
        self._waiting: dict[str, asyncio.Future[bool]] = {}
        self._asked: dict[str, asyncio.Future[str | None]] = {}

    async def report(self, event: str) -> None:
        """Pass an event on."""
        self._tell("event", event)

    async def news(self) -> list[tuple[str, str]]:
        """Wait for news, and return all: ("event", JSON) or ("lease", token)."""
        await self._is_new.wait()
        self._is_new.clear()
        news, self._news = self._news, []
        return news

    async def finish(self) -> None:
        """End the driver's wait for news."""
        self._is_new.set()

    async def ask_lease(self, token: str) -> str | None:
        """Have the driver take the lease of a cell; return the outcome if it cannot."""
        asked: asyncio.Future[str | None] = asyncio.Future()
        self._asked[token] = asked
        self._tell("lease", token)
        return await asked

    async def answer_lease(self, token: str, refused: str | None) -> None:
        """Answer a question for a lease."""
        if (asked := self._asked.pop(token, None)) is not None and not asked.done():
            asked.set_result(refused)

    async def cancel(self, tokens: list[str]) -> None:
        """Cancel starts of cells, whether they run or not."""
        self._cancelled |= set(tokens)
        for token in tokens:
            self._wake(token, cancelled=True)

    async def is_cancelled(self, token: str) -> bool:
        """Return whether a start was cancelled."""
        return token in self._cancelled

    async def until_cancelled(self, token: str) -> bool:
        """Wait until a start is cancelled (True) or has ended (False)."""
        if token in self._cancelled:
            return True
        waiting: asyncio.Future[bool] = asyncio.Future()
        self._waiting[token] = waiting
        return await waiting

    async def end(self, token: str) -> None:
        """Forget a start that has ended."""
        self._wake(token, cancelled=False)

    def _tell(self, kind: str, content: str) -> None:
        self._news.append((kind, content))
        self._is_new.set()

    def _wake(self, token: str, *, cancelled: bool) -> None:
        if (waiting := self._waiting.pop(token, None)) is not None:
            waiting.set_result(cancelled)


class LimiterActor:
    """Counts the connections of all cells of a study, by provider.

    A connection that is not renewed is free again: its node may be lost.
    """

    def __init__(
        self,
        limits: Mapping[str, int],
        *,
        wait: float = 0.0,
        expire: float = _EXPIRE_SECONDS,
    ) -> None:
        """Grant nothing for `wait` seconds, in which cells renew what they hold."""
        self._limits = dict(limits)
        self._expire = expire
        self._start = time.monotonic() + wait
        self._held: dict[str, dict[str, float]] = {name: {} for name in limits}
        self._changed = asyncio.Condition()

    async def acquire(self, provider: str, token: str) -> None:
        """Wait until a connection is free, and take it under the name `token`."""
        async with self._changed:
            while not self._is_free(provider):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), self._expire / 10)
            self._held[provider][token] = time.monotonic()

    async def renew(self, provider: str, tokens: list[str]) -> None:
        """Keep connections, also those that an earlier limiter has granted."""
        for token in tokens:
            self._held[provider][token] = time.monotonic()

    async def release(self, provider: str, token: str) -> None:
        """Give a connection back."""
        async with self._changed:
            self._held[provider].pop(token, None)
            self._changed.notify()

    def _is_free(self, provider: str) -> bool:
        now = time.monotonic()
        held = self._held[provider]
        for token in [one for one, at in held.items() if now - at > self._expire]:
            del held[token]
        return now >= self._start and len(held) < self._limits[provider]


def find_limiter(
    study: str, limits: Mapping[str, int], *, wait: float = 0.0
) -> RayObject:
    """Return the limiter of a study, made if no driver or cell has made it.

    It ends with its maker. Whoever misses it then makes the next one.
    """
    name = {"name": f"limiter-{study}", "namespace": NAMESPACE, "get_if_exists": True}
    return start_actor(LimiterActor, dict(limits), wait=wait, options=name)


def start_actor(
    kind: type, *given: object, options: Mapping[str, Any], **more: object
) -> RayObject:
    """Start an actor on this node that serves many calls at a time."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = ray.get_runtime_context().get_node_id()
    # Ray treats a soft affinity as a hint, and may choose a node that is lost later.
    only_here = NodeAffinitySchedulingStrategy(here, soft=False)
    actor = ray.remote(kind).options(
        num_cpus=0, max_concurrency=10_000, scheduling_strategy=only_here, **options
    )
    return actor.remote(*given, **more)


class StudyLimiter:
    """The limiter as a cell's parent process uses it, from any thread."""

    def __init__(self, study: str, limits: Mapping[str, int]) -> None:
        self._study = study
        self._limits = limits
        self._lock = threading.Lock()
        self._held: dict[str, list[str]] = {name: [] for name in limits}
        self._done = threading.Event()
        self._actor = find_limiter(study, limits)
        threading.Thread(target=self._renew, daemon=True).start()

    def acquire(self, provider: str) -> None:
        """Wait until a connection is free, and take it."""
        token = uuid4().hex
        self._call("acquire", provider, token)
        with self._lock:
            self._held[provider].append(token)

    def release(self, provider: str) -> None:
        """Give a connection back."""
        with self._lock:
            token = self._held[provider].pop()
        self._call("release", provider, token)

    def close(self) -> None:
        """Stop renewing; what is still held is free again later."""
        self._done.set()

    def _renew(self) -> None:
        while not self._done.wait(RENEW_SECONDS):
            with self._lock:
                held = {name: list(tokens) for name, tokens in self._held.items()}
            for provider, tokens in held.items():
                if tokens:
                    self._call("renew", provider, tokens)

    def _call(self, method: str, provider: str, token: str | list[str]) -> None:
        import ray

        while not self._done.is_set():
            try:
                _result(getattr(self._actor, method).remote(provider, token))
            except ray.exceptions.RayActorError:
                # Other cells hold connections that the new limiter must learn of.
                self._actor = find_limiter(
                    self._study, self._limits, wait=2 * RENEW_SECONDS
                )
            else:
                return
