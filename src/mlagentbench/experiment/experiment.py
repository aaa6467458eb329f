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
    Plan,
    TaskSpec,
)
from mlagentbench.experiment.scorecard_file import read_scorecards
from mlagentbench.experiment.trace_file import TraceWriter, read_trace
from mlagentbench.tasks import load_task, task_ids

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
    """One folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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
            return ExperimentSpec.model_validate_json(self._spec.read_bytes())
        except ValidationError as error:
            traces = len([*self.folder.glob("trace/*.jsonl")])
            cards, _ = read_scorecards(self._scorecards, lambda _: True)
            raise RecordError(
                f"{self._spec} is damaged: {error.errors()[0]['msg']}; it cannot be"
                f" resumed, but {traces} traces and {len(cards)} scorecards beside it"
                " can still be read"
            ) from error

    def _require_spec(self) -> None:
        if (self.folder / "study.json").is_file():
            raise UsageError(
                f"{self.folder} is a study: `mlab study {self.folder}` runs its missing"
                f" cells, and {self.folder}/cells holds an experiment for each result"
            )
        if not self._spec.is_file():
            raise UsageError(f"{self.folder} is not an experiment: no experiment.json")

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
        return read_trace(self.trace_path(run), str(run))

    def trace_path(self, run: RunId | str) -> Path:
        return self.folder / "trace" / f"{_file_name(run)}.jsonl"

    def observation_path(self, blob: str) -> Path:
        """Return the path of an observation that its step holds shortened."""
        return self.folder / "trace" / "blobs" / f"{blob}.txt"

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
        path = self._units_path(run)
        return parse_units(path.read_bytes()).get(_UNITS) if path.is_file() else None

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
        cards = read_scorecards(self._scorecards, self._has_task)[0]
        if all(card.task_digest for card in cards):
            return cards
        asked: dict[str, TaskSpec] = {}
        with suppress(UsageError, RecordError, OSError):
            asked = {task.id: task for task in self.spec.tasks}
        measured = {name: _measured(task) for name, task in asked.items()}
        return [
            _with_digest(card, asked.get(card.task), measured.get(card.task))
            for card in cards
        ]

    @property
    def warnings(self) -> list[str]:
        """A sentence about every line of `scorecards.jsonl` that is not valid."""
        return read_scorecards(self._scorecards, self._has_task)[1]

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
        raw = self._step_scores.read_bytes() if self._step_scores.exists() else b""
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
        with blame(RecordError, "the snapshots cannot be copied"):
            # Objects are never rewritten, so two experiments may share them.
            shutil.copytree(self.snapshots, target.snapshots, copy_function=os.link)
        for blob in filter(None, (step.observation_blob for step in history.steps)):
            source = self.observation_path(blob)
            if source.is_file():
                target.add_observation(source.read_text(encoding="utf-8"))
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


def _measured(asked: TaskSpec) -> Measured | None:
    try:
        return same_task(asked).measured
    except BenchError:
        return None


def same_task(spec: TaskSpec) -> Task:
    """Load a task of an experiment; raise `UsageError` if its version has changed."""
    task = load_task(spec.source, edition=spec.edition)
    if task.version != spec.version:
        raise UsageError(
            f"{spec.id} is at version {task.version} here, but the experiment ran"
            f" version {spec.version}; scores of two versions cannot be mixed"
        )
    return task.model_copy(update={"budget": spec.budget})
