"""Cells as tasks of a Ray cluster.

A task ends with the driver, and the next driver resumes its cell from the copy in the
store. Ray retries no task: the driver submits the cells of a lost node again.

API keys are arguments of the tasks. Ray would write those of a `runtime_env` to a log.
"""

import json
import logging
import os
import re
import secrets
import shutil
import signal
import tarfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mlagentbench.core import (
    MachineError,
    UsageError,
    install_command,
    scratch_folder,
    shortened,
    take_lease,
    usable_cores,
    utc_now,
)
from mlagentbench.study.cell import Resources
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome
from mlagentbench.study.ray_task import (
    NAMESPACE,
    ProgressActor,
    RayObject,
    find_limiter,
    run_cell,
    start_actor,
    unpack_results,
)
from mlagentbench.study.store import open_store

logger = logging.getLogger(__name__)

_STOP_SECONDS = 60.0
"""How long cells that were asked to stop may take to copy their progress."""
_OBJECT_STORE_BYTES = 200 << 20
_REASON_CHARACTERS = 500

_KEYS = re.compile(
    r"\w+_(API_KEY|API_TOKEN|BASE_URL|API_BASE|API_VERSION|ORG_ID|ORGANIZATION)"
    r"|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|(DEFAULT_)?REGION)"
    r"|AWS_ENDPOINT_URL(_S3)?|GOOGLE_CLOUD_(PROJECT|LOCATION)|HF_TOKEN"
)
"""Variables that hold no path, because nodes have other files."""


def provider_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that models and stores of a study may need on nodes."""
    return {name: value for name, value in environment.items() if _KEYS.fullmatch(name)}


class _Start:
    """A cell that was given to Ray."""

    def __init__(self, request: CellRequest, results: RayObject, token: str) -> None:
        self.request = request
        self.cell = request.cell.id
        self.results = results
        self.token = token
        self.is_running = False
        self.lease: ExitStack | None = None
        """Of a cell whose node does not see the store: this process holds it."""

    def take_lease(self) -> Outcome | None:
        """Take the cell's lease; return why it must not run."""
        store = open_store(self.request.store)
        lease = take_lease(store, f"work/{self.cell}/")
        if lease is None:
            return Outcome.HELD
        self.lease = ExitStack()
        self.lease.enter_context(lease.kept())
        return Outcome.PUBLISHED if store.is_published(self.cell) else None

    def write_place(self, event: CellEvent) -> None:
        """Write where the cell runs; its process does so if it sees the store."""
        if self.lease is None:
            return
        now = event.model_dump(include={"place", "steps", "cost_usd"})
        place = json.dumps(now | {"updated": utc_now()}).encode()
        open_store(self.request.store).replace(f"work/{self.cell}/place.json", place)

    def release_lease(self) -> None:
        if self.lease is not None:
            self.lease.close()


class RayExecutor:
    """Runs cells on an existing Ray cluster, or on a local one."""

    def __init__(
        self,
        address: str | None = None,
        *,
        parallel: int | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Use the cluster at `address`, or start one on this machine.

        Nothing is started or connected before the first cell is submitted. `parallel`
        is the most cells at a time. `keys` are environment variables of the cells,
        beside those of this process that providers need.
        """
        if address is not None and "://" in address:
            raise UsageError(
                f"cannot use the Ray address {address}: run the study on a node of the"
                " cluster, with --address HOST:PORT or --address auto"
            )
        self._address = address
        self._parallel = parallel
        self._keys = provider_variables(os.environ) | dict(keys or {})
        self._ray = _import_ray()
        self._open = ExitStack()
        self._progress: RayObject = None
        self._news: RayObject = None
        """The open call for news."""
        self._limiter: RayObject = None
        self._nodes: list[Mapping[str, float]] = []
        """The resources of each node."""
        self._waiting: deque[CellRequest] = deque()
        self._starts: dict[RayObject, _Start] = {}
        """By the reference to the last event, which Ray fulfils."""
        self._events: list[CellEvent] = []
        self._fetched: dict[str, tuple[Path, _Start]] = {}

    def submit(self, requests: Sequence[CellRequest]) -> None:
        """Queue cells; Ray starts each on a node that has the resources."""
        if not requests:
            return
        if self._progress is None:
            self._open_cluster()
        self._nodes = [one["Resources"] for one in self._ray.nodes() if one["Alive"]]
        for request in requests:
            needs = self._needs(request.cell.resources)
            if any(_fits(needs, node) for node in self._nodes):
                self._waiting.append(request)
            else:
                reason = f"no node of the cluster has {_words(request.cell.resources)}"
                self._events.append(_ended(request, Outcome.FAILED, reason))
        self._start_waiting()

    def watch(self, seconds: float) -> list[CellEvent]:
        """Return new events; wait at most `seconds` for the first one."""
        self._forget_fetched()
        if self._progress is None:
            time.sleep(seconds)
            return []
        references = [self._news, *self._starts]
        if not self._events:
            self._ray.wait(references, timeout=seconds, fetch_local=False)
        ready, _ = self._ray.wait(
            references, num_returns=len(references), timeout=0, fetch_local=False
        )
        if self._news in ready:
            ready.remove(self._news)
            self._read_news()
        self._events += [self._end(reference) for reference in ready]
        self._start_waiting()
        events, self._events = self._events, []
        return events

    def queued(self) -> set[str]:
        """Return the ids of the cells that this driver submitted and that go on."""
        starts = {start.cell for start in self._starts.values()}
        return starts | {request.cell.id for request in self._waiting}

    def cancel(self, *, running: bool) -> None:
        """Remove queued cells, and with `running` stop those that run."""
        for request in self._waiting:
            self._events.append(_ended(request, Outcome.INTERRUPTED, "cancelled"))
        self._waiting.clear()
        stopped = []
        for reference, start in self._starts.items():
            if not start.is_running:
                self._ray.cancel(reference)
            if running or not start.is_running:
                stopped.append(start.token)
        if stopped:
            self._ray.get(self._progress.cancel.remote(stopped))

    def fetch(self, cell: str) -> Path | None:
        """Return the folder of a bundle; it is removed by the next `watch`."""
        fetched = self._fetched.get(cell)
        return fetched[0] if fetched else None

    def close(self) -> None:
        """Stop the cells that run, and leave or end the cluster."""
        with self._open:
            if self._starts:
                self.cancel(running=True)
                starts = list(self._starts)
                self._ray.wait(
                    starts,
                    num_returns=len(starts),
                    timeout=_STOP_SECONDS,
                    fetch_local=False,
                )
            self._forget_fetched()
            for start in self._starts.values():
                start.release_lease()
            if self._progress is not None:
                # Ray prints an error about calls that are open when it ends.
                self._progress.finish.remote()
                self._ray.get(self._news)

    def _open_cluster(self) -> None:
        if not self._ray.is_initialized():
            self._connect()
        lasting = {"max_restarts": -1, "max_task_retries": -1}
        self._progress = start_actor(ProgressActor, options=lasting)
        self._news = self._progress.news.remote()
        self._task = self._ray.remote(run_cell)
        self._bundles = self._open.enter_context(scratch_folder())

    def _connect(self) -> None:
        options: dict[str, Any] = {"address": self._address}
        attempts = 1
        if self._address is None:
            # Ray gives a cluster 30 s to start, too short on a busy machine.
            attempts = 3
            options = {
                "address": "local",
                "num_cpus": usable_cores(),
                "include_dashboard": False,
                "object_store_memory": _OBJECT_STORE_BYTES,
                "_temp_dir": str(self._open.enter_context(scratch_folder())),
            }
        self._open.callback(self._ray.shutdown)
        on_terminate = signal.getsignal(signal.SIGTERM)
        for attempt in range(1, attempts + 1):
            try:
                self._ray.init(
                    namespace=NAMESPACE,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **options,
                )
                break
            except Exception as error:
                self._ray.shutdown()
                if attempt == attempts:
                    where = f"to Ray at {self._address}" if self._address else "to Ray"
                    raise MachineError(
                        f"cannot connect {where}: {_reason(error)}"
                    ) from error
        if threading.current_thread() is threading.main_thread():
            # Ray has replaced the handler.
            signal.signal(signal.SIGTERM, on_terminate)

    def _start_waiting(self) -> None:
        while self._waiting and (
            self._parallel is None or len(self._starts) < self._parallel
        ):
            self._start(self._waiting.popleft())

    def _needs(self, resources: Resources) -> dict[str, float]:
        """Return the resources of a cell by Ray's names for them."""
        memory = int(resources.memory_gb * 2**30)
        needs = {"CPU": resources.cpus, "GPU": resources.gpus, "memory": memory}
        if self._address is None:
            # As with `local`, a cell that needs more than the machine runs alone.
            (machine,) = self._nodes
            for name in ("CPU", "memory"):
                needs[name] = min(needs[name], machine[name])
        return needs

    def _start(self, request: CellRequest) -> None:
        if request.connections and self._limiter is None:
            self._limiter = find_limiter(request.study, request.connections)
        needs = self._needs(request.cell.resources)
        token = secrets.token_hex(8)
        task = self._task.options(
            name=request.cell.id,
            num_returns=2,
            num_cpus=needs["CPU"],
            num_gpus=needs["GPU"],
            memory=needs["memory"],
            max_retries=0,
            # By default Ray fills one node before it uses the next.
            scheduling_strategy="SPREAD",
        )
        ended, results = task.remote(
            request.model_dump_json(),
            self._keys,
            version("mlagentbench"),
            token,
            self._progress,
        )
        self._starts[ended] = _Start(request, results, token)

    def _read_news(self) -> None:
        news = self._ray.get(self._news)
        self._news = self._progress.news.remote()
        by_cell = {start.cell: start for start in self._starts.values()}
        by_token = {start.token: start for start in self._starts.values()}
        for kind, content in news:
            if kind == "lease" and content in by_token:
                refused = by_token[content].take_lease()
                self._progress.answer_lease.remote(content, refused)
            elif kind == "event":
                event = CellEvent.model_validate_json(content)
                # An event may arrive after the end of its cell.
                if (start := by_cell.get(event.cell)) is not None:
                    start.is_running = True
                    start.write_place(event)
                    self._events.append(event)

    def _end(self, reference: RayObject) -> CellEvent:
        errors = self._ray.exceptions
        start = self._starts.pop(reference)
        try:
            event = CellEvent.model_validate_json(self._ray.get(reference))
            self._store_results(start, event)
        except errors.TaskCancelledError:
            event = _ended(start.request, Outcome.INTERRUPTED, "cancelled")
        except errors.RayTaskError as error:
            event = _ended(start.request, Outcome.FAILED, _reason(error.cause or error))
        except errors.RayError as error:
            event = _ended(start.request, Outcome.LOST, _reason(error))
        except tarfile.TarError as error:
            event = _ended(start.request, Outcome.FAILED, _reason(error))
        if start.cell not in self._fetched:
            start.release_lease()
        return event

    def _store_results(self, start: _Start, event: CellEvent) -> None:
        """Take the results of a cell whose node does not see the store."""
        results = self._ray.get(start.results)
        if results is None:
            return
        folder = self._bundles / start.cell
        unpack_results(results, folder)
        if event.outcome is Outcome.PUBLISHED:
            # The lease is held until the driver has published the bundle.
            self._fetched[start.cell] = (folder, start)
            return
        names = [path.name for path in folder.iterdir()]
        store = open_store(start.request.store)
        store.copy_in(folder, f"work/{start.cell}/", names)
        shutil.rmtree(folder)

    def _forget_fetched(self) -> None:
        for folder, start in self._fetched.values():
            shutil.rmtree(folder, ignore_errors=True)
            start.release_lease()
        self._fetched.clear()


def _import_ray() -> RayObject:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MachineError(
            f"--on ray needs Ray; install it with: {install_command('ray')}"
        ) from error
    return ray


def _fits(needs: Mapping[str, float], node: Mapping[str, float]) -> bool:
    return all(node.get(name, 0) >= amount for name, amount in needs.items())


def _words(need: Resources) -> str:
    gpus = f", {need.gpus:g} GPUs" if need.gpus else ""
    return f"{need.cpus:g} CPUs{gpus} and {need.memory_gb:g} GB of memory"


def _ended(request: CellRequest, outcome: Outcome, reason: str) -> CellEvent:
    return CellEvent(cell=request.cell.id, kind="ended", outcome=outcome, reason=reason)


def _reason(error: BaseException) -> str:
    first = next(iter(str(error).strip().splitlines()), "")
    return shortened(f"{type(error).__name__}: {first}", _REASON_CHARACTERS)
