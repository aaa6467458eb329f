"""Experiment: its files, lock, attempts, step scores; same task as then."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from mlagentbench.core.disk import (
    LineFile,
    append_line,
    recording,
    take_lock,
    write_atomically,
)
from mlagentbench.core.errors import RecordError, UsageError
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.experiment.plan import ExperimentSpec, Plan, TaskSpec
from mlagentbench.experiment.scorecard_file import read_scorecards
from mlagentbench.tasks.load import load_task, task_ids


class Experiment:
    """One folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.report = folder / "report.html"
        self.snapshots = folder / "snapshots"
        self._asked = folder / "experiment.json"
        self._cards = folder / "scorecards.jsonl"
        self._step_scores = folder / "steps.jsonl"

    def trace(self, run: RunId) -> Path:
        """Return where a run's trace is."""
        return self.folder / "trace" / f"{file_name(run)}.jsonl"

    def submission(self, run: RunId) -> Path:
        """Return the folder of what a run submitted."""
        return self.folder / "submissions" / file_name(run)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process off; the hold dies with its owner."""
        with recording(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                lock = take_lock(self.folder / ".lock", wait=False)
            except BlockingIOError:
                raise UsageError(
                    f"another mlab is at work on {self.folder}; wait until it is done"
                ) from None
        try:
            sweep_unfinished(self.folder)
            yield
        finally:
            os.close(lock)

    def begin(self, asked: ExperimentSpec) -> None:
        """Make the folder and say what was asked."""
        if self._asked.exists():
            raise UsageError(
                f"there is an experiment in {self.folder} already; give another name,"
                " or go on with it by `mlab resume`"
            )
        with recording(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._asked, asked.model_dump_json(indent=2) + "\n")

    @property
    def asked(self) -> ExperimentSpec:
        """What was asked of this experiment."""
        if not self._asked.is_file():
            raise UsageError(f"{self.folder} is not an experiment: no experiment.json")
        try:
            return ExperimentSpec.model_validate_json(self._asked.read_bytes())
        except ValidationError as error:
            raise RecordError(
                f"{self._asked} is damaged: {error.errors()[0]['msg']}; it cannot be"
                f" resumed, but {self._rest()} beside it can still be read"
            ) from error

    def runs(self) -> list[RunId]:
        """Return every run that was asked for."""
        asked = self.asked
        return [
            RunId(
                task=task.id,
                agent=asked.agent_label,
                model=asked.model_label,
                seed=seed,
            )
            for task in asked.tasks
            for seed in asked.seeds
        ]

    def known_runs(self) -> list[RunId]:
        """Return every run that was asked for, and others that have a scorecard."""
        asked = self.runs() if self._asked.is_file() else []
        known = {str(run): run for run in asked}
        for card in self.scorecards()[0]:
            known.setdefault(card.run, card.run_id)
        return list(known.values())

    def attempt(self, run: RunId) -> int:
        """Return which attempt a run is at, as its set-aside traces show it."""
        number = 1
        while self._aside(run, number).exists():
            number += 1
        return number

    def set_aside(self, run: RunId, attempt: int) -> None:
        """Keep a broken attempt's trace out of the way of the next one."""
        trace = self.trace(run)
        if trace.exists():
            trace.replace(self._aside(run, attempt))

    def add(self, card: Scorecard) -> None:
        """Append one scorecard."""
        append_line(self._cards, card.model_dump_json())

    @contextmanager
    def step_scores_to_add(self) -> Iterator[LineFile]:
        """Open the file of what steps scored, for more of its lines."""
        file = LineFile(self._step_scores)
        try:
            yield file
        finally:
            file.close()

    def step_score_lines(self) -> list[bytes]:
        """Return what steps scored, a line each."""
        if not self._step_scores.exists():
            return []
        return self._step_scores.read_bytes().splitlines()

    def replace(self, cards: Iterable[Scorecard]) -> None:
        """Rewrite all scorecards at once."""
        text = "".join(card.model_dump_json() + "\n" for card in cards)
        write_atomically(self._cards, text)

    def _aside(self, run: RunId, attempt: int) -> Path:
        return self.trace(run).with_suffix(f".attempt{attempt}.jsonl")

    def scorecards(self) -> tuple[list[Scorecard], list[str]]:
        """Return the readable scorecards and a warning for each that is odd."""
        return read_scorecards(self._cards, self._has_task)

    def _has_task(self, task: str) -> bool:
        with suppress(UsageError, RecordError, OSError):
            if any(one.id == task for one in self.asked.tasks):
                return True
        return task in task_ids()

    def _rest(self) -> str:
        traces = len([*self.folder.glob("trace/*.jsonl")])
        cards, _ = read_scorecards(self._cards, lambda _: True)
        return f"{traces} traces and {len(cards)} scorecards"


_LONGEST_NAME = 180
"""Of a file named after a run; file systems allow 255 bytes with all endings."""

_UNFINISHED = (
    ".experiment.json.*",
    ".scorecards.jsonl.*",
    "logs/.inspect_tmp_*",
    "snapshots/incoming/*",
    "snapshots/manifests/.*",
    "snapshots/runs/.*",
)
"""Files that are renamed when they are whole."""


def experiment_folder(plan: Plan) -> Path:
    """Return the folder a plan asks for, or an unused one that tells what is in it."""
    if plan.name:
        return plan.out / plan.name
    first = Path(plan.tasks[0]).name
    tasks = first if len(plan.tasks) == 1 else f"{len(plan.tasks)}-tasks"
    agent = plan.agent.rpartition(":")[2]
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    folder = plan.out / f"{stamp}-{tasks}-{agent}"
    return folder if not folder.exists() else _numbered(folder)


def file_name(run: RunId) -> str:
    """Return what files of one run are called, without their endings."""
    # Model names hold slashes; a colon is fine in a file name.
    name = quote(str(run), safe=":=,[]@")
    if len(name) <= _LONGEST_NAME:
        return name
    # Some models are named by a path, and some agents by many settings.
    digest = hashlib.sha256(str(run).encode()).hexdigest()[:16]
    return f"{name[:_LONGEST_NAME]}-{digest}"


def sweep_unfinished(folder: Path) -> None:
    """Remove what writers that were killed left unfinished; nobody else may write."""
    for pattern in _UNFINISHED:
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _numbered(folder: Path) -> Path:
    number = 2
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate


def same_task(asked: TaskSpec) -> Task:
    """Load a task as it was asked for, if it still is that version."""
    task = load_task(asked.source, edition=asked.edition)
    if task.version != asked.version:
        raise UsageError(
            f"{asked.id} is at version {task.version} here, but the experiment ran"
            f" version {asked.version}; scores of two versions cannot be mixed"
        )
    return task.model_copy(update={"budget": asked.budget})


class StepScore(Record):
    """What a step changed the submission to, and what that scores."""

    run: str
    step: int
    submission: str
    """Digests of its files, which tell it from others."""
    score: float | None = None
    submission_error: str | None = None


def step_scores_by_run(experiment: Experiment) -> dict[str, list[StepScore]]:
    """Return what was judged before; a line that is torn is judged again."""
    found: dict[str, list[StepScore]] = {}
    for raw in experiment.step_score_lines():
        with suppress(ValidationError):
            score = StepScore.model_validate_json(raw)
            found.setdefault(score.run, []).append(score)
    return {run: sorted(of, key=lambda one: one.step) for run, of in found.items()}
