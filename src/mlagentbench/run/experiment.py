"""An experiment's folder: where its files are, written whole or not at all."""

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError, UsageError, blame
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.run.asked import Asked
from mlagentbench.run.folder import file_name, sweep_unfinished
from mlagentbench.run.lines import LineFile, append_line
from mlagentbench.run.scorecards import read_scorecards
from mlagentbench.tasks.catalogue import task_ids


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
        with blame(RecordError, f"{self.folder} cannot be written"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("ab")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another mlab is at work on {self.folder}; wait until it is done"
                ) from None
            sweep_unfinished(self.folder)
            yield

    def begin(self, asked: Asked) -> None:
        """Make the folder and say what was asked."""
        if self._asked.exists():
            raise UsageError(
                f"there is an experiment in {self.folder} already; give another name,"
                " or go on with it by `mlab resume`"
            )
        with blame(RecordError, f"{self.folder} cannot be written"):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._asked, asked.model_dump_json(indent=2) + "\n")

    @property
    def asked(self) -> Asked:
        """What was asked of this experiment."""
        if not self._asked.is_file():
            raise UsageError(f"{self.folder} is not an experiment: no experiment.json")
        try:
            return Asked.model_validate_json(self._asked.read_bytes())
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
