"""An experiment's folder: where its files are, written whole or not at all."""

import fcntl
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import Field, ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError, UsageError, blame
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Budget
from mlagentbench.run.lines import append_line
from mlagentbench.run.plan import Patience, agent_label, model_label

_UNFINISHED = (
    ".experiment.json.*",
    ".scorecards.jsonl.*",
    "logs/.inspect_tmp_*",
    "snapshots/incoming/*",
    "snapshots/manifests/.*",
    "snapshots/runs/.*",
)
"""Files that are renamed when they are whole."""


_LONGEST_NAME = 180
"""Of a file named after a run; file systems allow 255 bytes with all endings."""


class TaskAsked(Record):
    """One task of an experiment, as it was when the experiment began."""

    id: str
    version: int
    edition: str
    source: str
    """The id, or the folder it was loaded from."""
    digest: str
    budget: Budget


class Asked(Record):
    """What was asked, and under which circumstances: `experiment.json`."""

    tasks: tuple[TaskAsked, ...]
    agent: str
    settings: dict[str, str]
    model: str
    roles: dict[str, str] = Field(default_factory=dict)
    model_args: dict[str, Any] = Field(default_factory=dict)
    patience: Patience = Patience()
    seeds: tuple[int, ...]
    parallel: int
    sandbox: str
    limits: str
    unsafe: bool = False
    agent_env: dict[str, str]
    """The digest of each agent environment used, by variant."""
    packages: dict[str, str]
    python: str
    started: str

    @property
    def agent_label(self) -> str:
        """The agent with its settings."""
        return agent_label(self.agent, self.settings)

    @property
    def model_label(self) -> str:
        """The model with those of other roles."""
        return model_label(self.model, self.roles)


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
        return self.folder / "trace" / f"{_file_name(run)}.jsonl"

    def submission(self, run: RunId) -> Path:
        """Return the folder of what a run submitted."""
        return self.folder / "submissions" / _file_name(run)

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
            self._sweep()
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

    def add_step_score(self, line: str) -> None:
        """Append what one step's submission scored."""
        append_line(self._step_scores, line)

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

    def _sweep(self) -> None:
        """Remove what writers that were killed left unfinished; nobody else writes."""
        for pattern in _UNFINISHED:
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _rest(self) -> str:
        traces = len([*self.folder.glob("trace/*.jsonl")])
        return f"{traces} traces and {len(self.scorecards()[0])} scorecards"

    def scorecards(self) -> tuple[list[Scorecard], list[str]]:
        """Return the readable scorecards and a warning for each line that is not."""
        cards: list[Scorecard] = []
        warnings: list[str] = []
        raw_lines = (
            self._cards.read_bytes().split(b"\n") if self._cards.exists() else []
        )
        for number, raw in enumerate(raw_lines, start=1):
            if not raw:
                continue
            try:
                cards.append(Scorecard.model_validate_json(raw))
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"]) or "the line"
                warnings.append(
                    f"{self._cards.name}, line {number}: {where}: {first['msg']}"
                )
        return cards, warnings


def last_attempts(cards: list[Scorecard]) -> list[Scorecard]:
    """Return one scorecard per run: a repeated run speaks through its last."""
    return list({card.run: card for card in cards}.values())


def last_attempt_of(cards: list[Scorecard]) -> dict[str, int]:
    """Return the number of each run's last attempt."""
    last: dict[str, int] = {}
    for card in cards:
        last[card.run] = max(card.attempt, last.get(card.run, 1))
    return last


def _file_name(run: RunId) -> str:
    # Model names hold slashes; a colon is fine in a file name.
    name = quote(str(run), safe=":=,[]@")
    if len(name) <= _LONGEST_NAME:
        return name
    # Some models are named by a path, and some agents by many settings.
    digest = hashlib.sha256(str(run).encode()).hexdigest()[:16]
    return f"{name[:_LONGEST_NAME]}-{digest}"
