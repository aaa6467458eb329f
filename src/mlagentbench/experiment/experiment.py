"""The experiment folder: spec, traces, scorecards and step scores; fork and prune."""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from mlagentbench.core import (
    BenchError,
    Called,
    LineFile,
    Measured,
    Record,
    RecordError,
    RunId,
    Scorecard,
    Starter,
    Task,
    Trace,
    Units,
    UsageError,
    append_line,
    blame,
    dump_units,
    parse_units,
    recording,
    stale_baseline,
    take_lock,
    write_atomically,
)
from mlagentbench.environment import Pruned, SnapshotStore
from mlagentbench.experiment.plan import (
    NO_MODEL,
    ExperimentSpec,
    ForkOrigin,
    Named,
    Plan,
    TaskSpec,
)
from mlagentbench.experiment.record_files import read_record, refuse_links
from mlagentbench.experiment.scorecard_file import parse_scorecards
from mlagentbench.experiment.trace_file import TraceWriter, parse_trace
from mlagentbench.tasks import find_recorded, task_ids

logger = logging.getLogger(__name__)

_LONGEST_NAME = 180
"""Of a file named after a run; file systems allow 255 bytes with all endings."""

_UNFINISHED = (
    ".experiment.json.*",
    ".scorecards.jsonl.*",
    "logs/.inspect_tmp_*",
    "trace/blobs/.*",
    "snapshots/incoming/*",
    "snapshots/manifests/.*",
    "snapshots/runs/.*",
    "units/.*",
)
"""Temporary files, which are renamed when they are complete."""


_UNITS = "run"
"""The name of a run's units in its file."""

_NOTHING_CLAIMED = {
    **dict.fromkeys(("improvement", "gap_closed", "first_success", "failure")),
    **dict.fromkeys(("success", "significant"), False),
    "by_budget": (),
}
"""Fields of a scorecard without a valid baseline."""


class StepScore(Record):
    """The score of the submission as a step left it."""

    run: str
    step: int
    submission: str
    """Digests of its files, which tell it from others."""
    score: float | None = None
    submission_error: str | None = None


class Experiment:
    """One folder of runs.

    Anybody may have written it: everything in it is data. Its runs use only code that
    the user has `named`, and that of this package.
    """

    def __init__(self, folder: Path, named: Named | None = None) -> None:
        self.folder = folder
        self.named = named or Named()
        self.logs = folder / "logs"
        self.report = folder / "report.html"
        self.snapshots = folder / "snapshots"
        self._spec = folder / "experiment.json"
        self._scorecards = folder / "scorecards.jsonl"
        self._step_scores = folder / "steps.jsonl"

    def create(self, spec: ExperimentSpec) -> None:
        """Make the folder and write its spec."""
        if self._spec.exists():
            raise UsageError(
                f"{self.folder} already holds an experiment; choose another name,"
                " or continue it with `mlab resume`"
            )
        with recording(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._spec, spec.model_dump_json(indent=2) + "\n")

    @contextmanager
    def lock(self, *, new: bool = False) -> Iterator[None]:
        """Keep other processes from writing; the kernel frees the lock of a dead one.

        Nothing is written to a folder that is not an experiment, except for a new one.
        Temporary files that a killed writer left are deleted first.
        """
        if not new:
            self._require_spec()
        refuse_links(self.folder)
        with recording(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                lock = take_lock(self.folder / ".lock", wait=False)
            except BlockingIOError:
                raise UsageError(
                    f"another mlab process is using {self.folder}; wait for it to end"
                ) from None
        try:
            for pattern in _UNFINISHED:
                for path in self.folder.glob(pattern):
                    logger.info("delete the unfinished file %s", path)
                    path.unlink(missing_ok=True)
            yield
        finally:
            os.close(lock)

    @property
    def spec(self) -> ExperimentSpec:
        """The plan and its circumstances, as `experiment.json` records them."""
        self._require_spec()
        try:
            return ExperimentSpec.model_validate_json(self._read(self._spec) or b"")
        except ValidationError as error:
            traces = len([*self.folder.glob("trace/*.jsonl")])
            cards, _ = parse_scorecards(self._read(self._scorecards) or b"", "")
            raise RecordError(
                f"{self._spec} is damaged: {error.errors()[0]['msg']}; it cannot be"
                f" resumed, but {traces} traces and {len(cards)} scorecards beside it"
                " can still be read"
            ) from error

    def _read(self, path: Path) -> bytes | None:
        """Read a file of the folder; no link is followed."""
        return read_record(self.folder, path.relative_to(self.folder).as_posix())

    def _require_spec(self) -> None:
        if (self.folder / "study.json").is_file():
            raise UsageError(
                f"{self.folder} is a study: `mlab study {self.folder}` runs its missing"
                f" cells, and {self.folder}/cells holds an experiment for each result"
            )
        if not self._spec.is_file():
            raise UsageError(f"{self.folder} is not an experiment: no experiment.json")

    def task(self, spec: TaskSpec) -> Task:
        """Load one of its tasks; see `same_task`."""
        return same_task(spec, self.named.task_paths)

    def require_agent(self) -> None:
        """Raise `UsageError` if its agent is outside code that the user did not name.

        Nothing proves that a folder was written on this machine by the same user, so
        the user names the agent again.
        """
        agent = self.spec.agent
        if ":" in agent and agent not in self.named.agents:
            raise UsageError(
                f"the experiment names the agent {agent}, whose code would run on this"
                f" machine; if you trust it, add{Named(agents=(agent,)).options}"
            )

    def require_models(self) -> None:
        """Raise `UsageError` if it sets model arguments that the user did not name."""
        given = self.spec.model_args
        if given and given != self.named.model_args:
            raise UsageError(
                "the experiment sets model arguments, which may hold the address that"
                f" your keys are sent to; if you trust them, add"
                f"{Named(model_args=given).options}"
            )

    def runs(self) -> list[RunId]:
        """Return every planned run."""
        return self.spec.runs

    def known_runs(self) -> list[RunId]:
        """Return every planned run, and others that have a scorecard."""
        planned = self.runs() if self._spec.is_file() else []
        known = {str(run): run for run in planned}
        for card in self.scorecards:
            known.setdefault(card.run, card.run_id)
        return list(known.values())

    def trace(self, run: RunId | str) -> Trace:
        """Read a run's trace; that of a run without a file has no steps."""
        path = self.trace_path(run)
        return parse_trace(self._read(path) or b"", path, str(run))

    def trace_path(self, run: RunId | str) -> Path:
        return self.folder / "trace" / f"{_file_name(run)}.jsonl"

    def observation_path(self, blob: str) -> Path:
        """Return the path of an observation that its step holds shortened."""
        # The name comes from a trace, which anybody may have written.
        return self.folder / "trace" / "blobs" / f"{_file_name(blob)}.txt"

    def add_observation(self, text: str) -> str:
        """Write the full text of an observation; return its digest."""
        data = text.encode(errors="replace")
        blob = hashlib.sha256(data).hexdigest()
        path = self.observation_path(blob)
        with blame(RecordError, f"{path} cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, data.decode())
        return blob

    def trace_damage(self, run: RunId) -> str | None:
        """Return why a run's trace cannot be read, or None."""
        try:
            self.trace(run)
        except RecordError as error:
            return str(error)
        return None

    def submission_folder(self, run: RunId | str) -> Path:
        return self.folder / "submissions" / _file_name(run)

    def write_units(self, run: RunId | str, units: Units | None) -> None:
        """Write the units of a run's score, or delete those of an earlier grading."""
        path = self._units_path(run)
        with blame(RecordError, f"{path} cannot be written"):
            if units is None:
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, dump_units({_UNITS: units}))

    def read_units(self, run: RunId | str) -> Units | None:
        """Read the units of a run's score; None if there are none."""
        raw = self._read(self._units_path(run))
        return None if raw is None else parse_units(raw).get(_UNITS)

    @property
    def units(self) -> dict[str, Units]:
        """The units of all scores that have them, by the name of the run."""
        runs = dict.fromkeys(card.run for card in self.scorecards)
        found = {run: self.read_units(run) for run in runs}
        return {run: units for run, units in found.items() if units is not None}

    def _units_path(self, run: RunId | str) -> Path:
        return self.folder / "units" / f"{_file_name(run)}.npz"

    def attempt(self, run: RunId) -> int:
        """Return the number of a run's attempt, which its set-aside traces show."""
        number = 1
        while self._aside(run, number).exists():
            number += 1
        return number

    def set_aside(self, run: RunId, attempt: int) -> None:
        """Rename a broken attempt's trace, so that the next one starts without it."""
        trace = self.trace_path(run)
        if trace.exists():
            trace.replace(self._aside(run, attempt))

    def _aside(self, run: RunId, attempt: int) -> Path:
        return self.trace_path(run).with_suffix(f".attempt{attempt}.jsonl")

    @property
    def scorecards(self) -> list[Scorecard]:
        """The readable scorecards, read from disk at every access.

        Those of earlier versions get the digests that `experiment.json` records.
        """
        cards = self._parsed_scorecards()[0]
        if all(card.task_digest for card in cards):
            return cards
        asked: dict[str, TaskSpec] = {}
        with suppress(UsageError, RecordError, OSError):
            asked = {task.id: task for task in self.spec.tasks}
        measured: dict[str, Measured | None] = {}
        for name, task in asked.items():
            with suppress(BenchError):
                measured[name] = self.task(task).measured
        return [
            _with_digest(card, asked.get(card.task), measured.get(card.task))
            for card in cards
        ]

    @property
    def warnings(self) -> list[str]:
        """A sentence about every line of `scorecards.jsonl` that is not valid."""
        return self._parsed_scorecards()[1]

    def _parsed_scorecards(self) -> tuple[list[Scorecard], list[str]]:
        raw = self._read(self._scorecards) or b""
        return parse_scorecards(raw, self._scorecards.name, self._has_task)

    def _has_task(self, task: str) -> bool:
        with suppress(UsageError, RecordError, OSError):
            if any(one.id == task for one in self.spec.tasks):
                return True
        return task in task_ids()

    def add_scorecard(self, card: Scorecard) -> None:
        append_line(self._scorecards, card.model_dump_json())

    def replace_scorecards(self, cards: Iterable[Scorecard]) -> None:
        """Rewrite all scorecards atomically."""
        text = "".join(card.model_dump_json() + "\n" for card in cards)
        write_atomically(self._scorecards, text)

    def step_scores(self) -> dict[str, list[StepScore]]:
        """Return the scores of steps by run; a truncated line is graded again."""
        found: dict[str, list[StepScore]] = {}
        raw = self._read(self._step_scores) or b""
        for line in raw.splitlines():
            with suppress(ValidationError):
                score = StepScore.model_validate_json(line)
                found.setdefault(score.run, []).append(score)
        return {run: sorted(of, key=lambda one: one.step) for run, of in found.items()}

    def open_step_scores(self) -> closing[LineFile]:
        return closing(LineFile(self._step_scores))

    def forked_spec(self, run: RunId, model: str | None = None) -> ExperimentSpec:
        """Return the spec of a fork of one run, with another model if one is given."""
        spec = self.spec
        task = next(one for one in spec.tasks if one.id == run.task)
        changes: dict[str, object] = {"tasks": (task,), "seeds": (run.seed,)}
        if model is not None and model != spec.model:
            if spec.model == NO_MODEL:
                raise UsageError(f"{run} uses no model, so --model cannot replace it")
            origin = ForkOrigin(run=str(run), model=spec.model)
            # The settings of the old model's provider mean nothing to another one.
            changes |= {"model": model, "model_args": {}}
            changes["forked_from"] = spec.forked_from or origin
        return spec.model_copy(update=changes)

    def fork(
        self, run: RunId, step: int, target: "Experiment", model: str | None = None
    ) -> Trace:
        """Make `target` from one run's first `step` steps; resume it to continue."""
        trace = self.trace(run)
        if not trace.steps:
            raise UsageError(f"{run} has no recorded steps to fork from")
        if not 1 <= step <= len(trace.steps):
            raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
        if target.folder.exists():
            raise UsageError(
                f"{target.folder} already exists; choose another folder with --as"
            )
        target.create(self.forked_spec(run, model))
        (forked,) = map(str, target.runs())
        history = trace.model_copy(
            update={"run": forked, "steps": trace.steps[:step], "calls": ()}
        )
        with TraceWriter(target.trace_path(forked)) as writer:
            for kept in history.steps:
                for call in kept.calls:
                    writer.append(Called(run=forked, call=call))
                writer.append(kept.model_copy(update={"run": forked}))
        refuse_links(self.snapshots)
        with blame(RecordError, "the snapshots cannot be copied"):
            # Objects are never rewritten, so two experiments may share them.
            shutil.copytree(self.snapshots, target.snapshots, copy_function=os.link)
        for blob in filter(None, (step.observation_blob for step in history.steps)):
            if (text := self._read(self.observation_path(blob))) is not None:
                target.add_observation(text.decode(errors="replace"))
        return history

    def prune(self) -> Pruned:
        """Delete the snapshots that no trace names."""
        with self.lock():
            steps = [step for run in self.runs() for step in self.trace(run).steps]
            needed = [step.snapshot for step in steps if step.snapshot is not None]
            return SnapshotStore(self.snapshots).prune(needed)


def experiment_folder(plan: Plan) -> Path:
    """Return the folder a plan names, or an unused one named by time, task, agent."""
    if plan.name:
        return plan.out / plan.name
    first = Path(plan.tasks[0]).name
    tasks = first if len(plan.tasks) == 1 else f"{len(plan.tasks)}-tasks"
    agent = (plan.agent_name or plan.agent.rpartition(":")[2]).replace(" ", "-")
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    folder = unused = plan.out / f"{stamp}-{tasks}-{agent}"
    number = 1
    while unused.exists():
        number += 1
        unused = folder.with_name(f"{folder.name}-{number}")
    return unused


def _file_name(run: RunId | str) -> str:
    """Return the name of a run's files, without their endings."""
    # Model names hold slashes; a colon is fine in a file name.
    name = quote(str(run), safe=":=,[]@")
    if len(name) <= _LONGEST_NAME:
        return name
    # Some models are named by a path, and some agents by many settings.
    digest = hashlib.sha256(str(run).encode()).hexdigest()[:16]
    return f"{name[:_LONGEST_NAME]}-{digest}"


def _with_digest(
    card: Scorecard, asked: TaskSpec | None, measured: Measured | None
) -> Scorecard:
    """Add the task folder's digest to a scorecard that has none.

    Earlier versions compared scores with any measured starter. If it is still the one
    in the task folder, it can be checked now.
    """
    if card.task_digest or asked is None:
        return card
    changed: dict[str, Any] = {"task_digest": asked.digest}
    known = measured.starter if measured else None
    same = known and Starter(mean=known.mean, sd=known.sd, n=known.n) == card.starter
    if measured and same and measured.digest != asked.digest:
        wrong = stale_baseline(measured.digest, asked.digest)
        changed |= {"baseline_error": wrong, **_NOTHING_CLAIMED}
    return card.model_copy(update=changed)


def same_task(spec: TaskSpec, task_paths: Iterable[Path] = ()) -> Task:
    """Load a task of an experiment; raise `UsageError` if its version has changed.

    A task outside the suite is looked for in `task_paths` only.
    """
    task = find_recorded(spec.source, spec.edition, spec.digest, task_paths)
    if task.version != spec.version:
        raise UsageError(
            f"{spec.id} is at version {task.version} here, but the experiment ran"
            f" version {spec.version}; scores of two versions cannot be mixed"
        )
    return task.model_copy(update={"budget": spec.budget})
