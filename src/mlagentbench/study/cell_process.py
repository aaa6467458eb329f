"""The process of a cell: takes its lease, runs it, copies its progress, publishes it.

It is started by `cell_child.py`, and is the harness of one run. The run works in a
private folder on this machine. Its records are copied to the store under way, so that
another process, also on another machine, can resume it.
"""

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mlagentbench.core import (
    BenchError,
    Ending,
    NullObserver,
    RunId,
    Scorecard,
    Step,
    default_cache,
    exit_with_parent,
    harmless,
    reserve_stdout,
    scratch_folder,
    scratch_root,
    sweep_scratch,
    take_lease,
    temporary_folder,
    truncate,
    utc_now,
)
from mlagentbench.environment import SnapshotStore
from mlagentbench.experiment import Experiment
from mlagentbench.study.bundle import publish_bundle
from mlagentbench.study.cell_child import Granted, Message, Start
from mlagentbench.study.executor import CellEvent, Outcome
from mlagentbench.study.store import Store, open_store

logger = logging.getLogger(__name__)

_LOG = "output.log"
_LOG_BYTES = 200_000
"""Of the end of the process's output, which the store keeps while the cell runs."""
_RECORDS = ("*.json*", "trace/*.jsonl", "trace/blobs/*", "submissions/**/*")
_SNAPSHOTS = tuple(
    f"snapshots/{part}"
    for part in ("objects/*/*", "manifests/*", "holds/*/*", "runs/*")
)
FileTimes = dict[str, tuple[int, int]]
"""The time of change and the size of files, by name."""

_REASON_CHARACTERS = 1_000
_BROKEN_TWICE = 2
_CANCEL_SECONDS = 10.0
"""Time between two looks at `cancel.json`."""


def main() -> None:
    """Run the cell of the first line on standard input."""
    exit_with_parent(int(sys.argv[-1]))
    link = ParentLink(os.dup(0), reserve_stdout())
    # Nothing else in this process may read the parent's answers.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    start = link.receive_start()
    sys.path[:] = start.path
    _log_to_stderr()
    # Ray's processes block SIGINT. Inspect cancels its runs at SIGINT.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    link.send_event(CellRun(start, link).run())


def _log_to_stderr() -> None:
    package = logging.getLogger("mlagentbench")
    package.addHandler(logging.StreamHandler())
    package.setLevel(logging.INFO)
    package.propagate = False


class ParentLink:
    """The lines to and from the parent, and the connections that it grants."""

    def __init__(self, reading: int, writing: int) -> None:
        self._lines = os.fdopen(reading, "rb")
        self._writing = writing
        self._lock = threading.Lock()
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def receive_start(self) -> Start:
        """Return the first line; a thread reads the others from now on."""
        start = Start.model_validate_json(self._lines.readline())
        threading.Thread(target=self._hand_out, daemon=True).start()
        return start

    def send_event(self, event: CellEvent) -> None:
        self._send(Message(event=event))

    @asynccontextmanager
    async def connection(self, provider: str) -> AsyncIterator[None]:
        """Wait until the parent grants a connection to a provider; then hold it."""
        granted = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.setdefault(provider, []).append(granted)
        self._send(Message(acquire=provider))
        try:
            await granted
            yield
        finally:
            with self._lock:
                waits = granted in self._waiting[provider]
                if waits:
                    # The grant of a call that was cancelled is given back.
                    self._waiting[provider].remove(granted)
            if not waits:
                self._send(Message(release=provider))

    def _hand_out(self) -> None:
        for line in self._lines:
            provider = Granted.model_validate_json(line).granted
            with self._lock:
                waiting = self._waiting.get(provider)
                granted = waiting.pop(0) if waiting else None
            if granted is None:
                self._send(Message(release=provider))
                continue
            granted.get_loop().call_soon_threadsafe(_resolve, granted)

    def _send(self, message: Message) -> None:
        line = message.model_dump_json(exclude_none=True).encode() + b"\n"
        with self._lock, suppress(OSError):
            while line:
                line = line[os.write(self._writing, line) :]


def _resolve(granted: "asyncio.Future[None]") -> None:
    if not granted.done():
        granted.set_result(None)


class CellRun:
    """One attempt to run a cell."""

    def __init__(self, start: Start, link: ParentLink) -> None:
        self._request = start.request
        self._cell = start.request.cell
        self._place = f"{start.place or 'local'}, process {os.getpid()}"
        self._link = link
        self._store = open_store(start.request.store)
        self._work = f"work/{self._cell.id}/"
        self._progress = f"progress/{self._cell.id}/"

    def run(self) -> CellEvent:
        """Run the cell if nobody else does; return its end."""
        store, cell = self._store, self._cell
        if reason := self._wrong_store():
            return self._ended(Outcome.FAILED, reason)
        if store.read("cancel.json") is not None:
            return self._ended(Outcome.INTERRUPTED, "the study was cancelled")
        if store.is_published(cell.id):
            return self._ended(Outcome.PUBLISHED)
        lease = take_lease(store, self._work)
        if lease is None:
            return self._ended(Outcome.HELD)
        with lease.kept(on_lost=self._give_up):
            if store.is_published(cell.id):
                # Another process published it after the look above.
                ended = self._ended(Outcome.PUBLISHED)
            else:
                ended = self._run_leased()
            if ended.outcome is Outcome.PUBLISHED:
                # The lease is the last to go.
                store.delete(self._progress)
        if ended.outcome is Outcome.PUBLISHED:
            store.delete(self._work)
        return ended

    def _wrong_store(self) -> str | None:
        found = self._store.read("study.json")
        if found is not None and json.loads(found).get("id") == self._request.study:
            return None
        return f"the store {self._store.address} of the study cannot be seen from here"

    def _give_up(self) -> None:
        """End this process, because another one has taken the lease."""
        self._link.send_event(self._ended(Outcome.HELD, "its lease was taken"))
        os._exit(0)

    def _run_leased(self) -> CellEvent:
        folder = scratch_root(default_cache()) / "cells"
        with scratch_folder(folder) as private:
            _redirect_output(private / _LOG)
            sweep_scratch(folder)
            plan = self._cell.plan(private, self._cell.id)
            experiment = Experiment(private / self._cell.id, plan.named)
            copies = ProgressCopies(self._store, self._cell.id, experiment, self._place)
            try:
                failure = self._run_experiment(experiment, copies)
            finally:
                # The end below is short, and must not be cut off.
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, signal.SIG_IGN)
            return self._finish(experiment, copies, failure)

    def _run_experiment(
        self, experiment: Experiment, copies: "ProgressCopies"
    ) -> "Failure | None":
        """Run or resume the experiment; return why it has no scorecard that counts."""
        try:
            copies.restore()
            self._link.send_event(self._event("started"))
            with copies.made_under_way(self._request.copy_seconds):
                self._run_or_resume(experiment, copies)
        except KeyboardInterrupt:
            return Failure(Ending.INTERRUPTED, "")
        except BenchError as error:
            return Failure(None, str(error))
        except Exception as error:
            logger.exception("the run failed")
            return Failure(None, f"{type(error).__name__}: {error}")
        cards = experiment.scorecards
        if not cards:
            return Failure(None, "it has no readable scorecard")
        last = cards[-1]
        return None if last.ending.counts else Failure(last.ending, last.reason or "")

    def _run_or_resume(self, experiment: Experiment, copies: "ProgressCopies") -> None:
        # The engine takes seconds to import, which a cell that is held can save.
        from mlagentbench.run import resume, run, set_connection_gate

        set_connection_gate(self._gate)
        observer = StepObserver(self._step_taken, copies.step_taken)
        if (experiment.folder / "experiment.json").exists():
            resume(experiment, observer=observer)
        else:
            plan = self._cell.plan(experiment.folder.parent, experiment.folder.name)
            run(plan, observer=observer)

    @asynccontextmanager
    async def _gate(self, model: str) -> AsyncIterator[None]:
        limits = self._request.connections
        limited = [one for one in limits if f"{model}/".startswith(f"{one}/")]
        if not limited:
            yield
            return
        async with self._link.connection(max(limited, key=len)):
            yield

    def _step_taken(self, step: Step) -> None:
        now = {"steps": step.spent.steps, "cost_usd": step.spent.cost}
        self._link.send_event(self._event("step").model_copy(update=now))

    def _finish(
        self,
        experiment: Experiment,
        copies: "ProgressCopies",
        failure: "Failure | None",
    ) -> CellEvent:
        cards = experiment.scorecards
        if failure is None:
            try:
                publish_bundle(self._store, experiment, self._cell, self._request.keep)
                return self._ended(Outcome.PUBLISHED, cards=cards)
            except (OSError, BenchError) as error:
                # The folder is a bundle now, so the last copies are better to resume.
                logger.exception("the bundle cannot be published")
                failure = Failure(None, f"its result cannot be published: {error}")
        else:
            copies.copy()
        if failure.ending is Ending.INTERRUPTED:
            return self._ended(Outcome.INTERRUPTED, failure.reason, cards)
        self._record_failure(failure, cards)
        return self._ended(Outcome.FAILED, failure.words, cards)

    def _record_failure(self, failure: "Failure", cards: Sequence[Scorecard]) -> None:
        name = f"{self._work}failed.json"
        last = json.loads(self._store.read(name) or b"{}")
        attempts = last.get("attempts", 0) + 1
        failed = {
            "reason": failure.reason,
            "ending": failure.ending,
            "at": utc_now(),
            "attempts": attempts,
            "cost_usd": sum(card.cost_usd for card in cards),
        }
        self._store.replace(name, json.dumps(failed).encode())
        if attempts % _BROKEN_TWICE == 0 and failure.ending is Ending.BROKEN:
            # The records themselves may be the cause: the next attempt starts anew.
            self._store.delete(self._progress)

    def _ended(
        self, outcome: Outcome, reason: str = "", cards: Sequence[Scorecard] = ()
    ) -> CellEvent:
        update = {
            "outcome": outcome,
            # It may quote what an agent or a provider said.
            "reason": harmless(truncate(reason, _REASON_CHARACTERS)),
            "steps": cards[-1].steps if cards else 0,
            "cost_usd": sum(card.cost_usd for card in cards),
        }
        return self._event("ended").model_copy(update=update)

    def _event(self, kind: Literal["started", "step", "ended"]) -> CellEvent:
        return CellEvent(cell=self._cell.id, kind=kind, place=self._place)


@dataclass(frozen=True)
class Failure:
    """Why a run has no result that counts."""

    ending: Ending | None
    """None if the run could not start."""
    reason: str

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (self.ending, self.reason)))


def _redirect_output(log: Path) -> None:
    """Write everything that this process prints to a file."""
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


class StepObserver(NullObserver):
    """Passes every step on."""

    def __init__(self, *receivers: Callable[[Step], None]) -> None:
        self._receivers = receivers

    def step_taken(self, run: RunId, step: Step) -> None:  # noqa: ARG002  # there is one
        for receive in self._receivers:
            receive(step)


class ProgressCopies:
    """Copies of a running cell's records in the store.

    What is copied can be resumed at every moment: the files of a snapshot come before
    the step that names it, and are deleted after a later step was copied.
    """

    def __init__(
        self, store: Store, cell: str, experiment: Experiment, place: str
    ) -> None:
        self._store = store
        self._work = f"work/{cell}/"
        self._prefix = f"progress/{cell}/"
        self._folder = experiment.folder
        self._snapshots = SnapshotStore(experiment.snapshots)
        self._private = experiment.folder.parent
        self._now: dict[str, Any] = {"place": place, "steps": 0, "cost_usd": 0.0}
        self._copied: FileTimes = {}
        self._new_step = threading.Event()

    def restore(self) -> None:
        """Copy the records of an earlier process into the experiment's folder."""
        if self._store.read(f"{self._prefix}experiment.json") is not None:
            self._store.copy_out(self._prefix, self._folder)
            self._copied = self._files((*_RECORDS, *_SNAPSHOTS))
        self._write_place()

    def step_taken(self, step: Step) -> None:
        self._now |= {"steps": step.spent.steps, "cost_usd": step.spent.cost}
        self._new_step.set()

    @contextmanager
    def made_under_way(self, seconds: float) -> Iterator[None]:
        """Copy in a thread after a step, at most once in so many seconds.

        The thread also ends the run if running cells are cancelled: a cell may have
        no driver any more.
        """
        is_over = threading.Event()

        def keep_copying() -> None:
            while not is_over.is_set():
                is_new = self._new_step.wait(_CANCEL_SECONDS)
                if self._is_cancelled():
                    # Its handler runs in the main thread.
                    os.kill(os.getpid(), signal.SIGTERM)
                    return
                if is_new and not is_over.is_set():
                    self._new_step.clear()
                    self.copy()
                    is_over.wait(seconds)

        thread = threading.Thread(target=keep_copying, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            self._new_step.set()
            thread.join()

    def _is_cancelled(self) -> bool:
        try:
            cancelled = json.loads(self._store.read("cancel.json") or "{}")
            return bool(cancelled.get("running"))
        except (OSError, BenchError, ValueError, AttributeError):
            return False

    def copy(self) -> None:
        """Copy all that has changed; a store that fails is tried again next time."""
        try:
            with temporary_folder(self._private, "stage") as stage:
                self._copy_through(stage)
            self._write_place()
        except (OSError, BenchError) as error:
            logger.warning("progress cannot be copied to the store: %s", error)

    def _copy_through(self, stage: Path) -> None:
        """Link or copy the files as they are at one moment, then send them."""
        with self._snapshots.unpruned():
            # Every step in these records names a snapshot that is stored by now.
            found = self._staged(_RECORDS, stage, shutil.copyfile)
            # Files of snapshots are replaced or removed, but never changed.
            found |= self._staged(_SNAPSHOTS, stage, os.link)
        changed = [name for name in found if found[name] != self._copied.get(name)]
        self._store.copy_in(stage, self._prefix, sorted(changed, key=_copied_when))
        for name in self._copied.keys() - found.keys():
            self._store.delete(f"{self._prefix}{name}")
        self._copied = found

    def _staged(
        self,
        patterns: tuple[str, ...],
        stage: Path,
        copy: Callable[[Path, Path], object],
    ) -> FileTimes:
        """Put the changed files on the stage; return all files."""
        found = self._files(patterns)
        for name, about in found.items():
            if about != self._copied.get(name):
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                copy(self._folder / name, stage / name)
        return found

    def _files(self, patterns: tuple[str, ...]) -> FileTimes:
        """Return the files that resuming needs, but no unfinished ones."""
        found: FileTimes = {}
        for path in (one for two in patterns for one in self._folder.glob(two)):
            name = str(path.relative_to(self._folder))
            is_unfinished = path.name[0] == "." and not name.startswith("submissions/")
            if path.is_file() and not path.is_symlink() and not is_unfinished:
                status = path.stat()
                found[name] = status.st_mtime_ns, status.st_size
        return found

    def _write_place(self) -> None:
        now = self._now | {"updated": utc_now()}
        self._store.replace(f"{self._work}place.json", json.dumps(now).encode())
        with suppress(FileNotFoundError), (self._private / _LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_BYTES))
            self._store.replace(f"{self._work}{_LOG}", log.read())


def _copied_when(name: str) -> int:
    """Return the place of a file in the order of copies."""
    first = ("experiment.json", "snapshots/", "trace/blobs/", "trace/")
    return next((n for n, one in enumerate(first) if name.startswith(one)), len(first))


if __name__ == "__main__":
    main()
