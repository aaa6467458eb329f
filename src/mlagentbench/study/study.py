"""A study in its store: planned cells, results, and what is missing."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from mlagentbench.core import (
    Record,
    RecordError,
    Scorecard,
    Units,
    UsageError,
    utc_now,
)
from mlagentbench.experiment import (
    Experiment,
    Named,
    TotalLimits,
    last_attempts,
    parse_scorecards,
)
from mlagentbench.report import ExperimentView, MissingRun, missing_note, view_of
from mlagentbench.study.cell import Cell
from mlagentbench.study.store import Store, open_store
from mlagentbench.study.study_status import (
    CANCEL,
    TOTAL,
    StudyStatus,
    read_cells,
    read_study_status,
)

STUDY = "study.json"
_DOWNLOADS = 8
"""Bundles that are copied from an object store at a time."""


class StudyInfo(Record):
    """`study.json`, which never changes."""

    id: str
    name: str
    created: str


class StudyPlan(Record):
    """One of `plans/`: the cells of a version of the study's file."""

    created: str
    """When a driver last used it. The newest plan is the current one."""
    text: str
    """The file, for people."""
    cells: tuple[Cell, ...]


class StudyResults(NamedTuple):
    """The results of a study at one moment."""

    scorecards: list[Scorecard]
    """One per published cell: that of its last attempt."""
    missing: list[MissingRun]
    warnings: list[str]


class Study:
    """A folder or an object store with the cells of a study.

    Everything is read from the store at every access, except what never changes.
    """

    def __init__(self, store: Store, named: Named | None = None) -> None:
        self.store = store
        self.named = named or Named()
        """Anybody may have written the store: it names no code."""

    @property
    def address(self) -> str:
        """The folder, or an address such as `s3://bucket/name`."""
        return self.store.address

    @cached_property
    def info(self) -> StudyInfo:
        found = self.store.read(STUDY)
        if found is None:
            raise UsageError(f"{self.address} is not a study: no {STUDY}")
        return _parsed(StudyInfo, found, f"{self.address}/{STUDY}")

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def plan(self) -> StudyPlan | None:
        """The current plan, which is that of the last driver."""
        plans = [
            _parsed(StudyPlan, found, name)
            for name in self.store.names("plans/")
            if (found := self.store.read(name)) is not None
        ]
        return max(plans, key=lambda plan: plan.created, default=None)

    @property
    def cells(self) -> list[Cell]:
        """The cells of the current plan."""
        plan = self.plan
        return list(plan.cells) if plan else []

    @property
    def missing(self) -> list[Cell]:
        """The cells of the current plan that have no result."""
        published = self.store.published()
        return [cell for cell in self.cells if cell.id not in published]

    @property
    def experiments(self) -> list[Experiment]:
        """The experiment of every published cell, also of earlier plans.

        Those of an object store are copied to this machine, each once.
        """
        ids = self._published_ids(self.cells)
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            return list(pool.map(self.experiment, ids))

    def experiment(self, cell: str) -> Experiment:
        """Return the experiment of one published cell."""
        return Experiment(self.store.open_experiment(cell), self.named)

    @property
    def scorecards(self) -> list[Scorecard]:
        """The scorecard of every published cell, of its last attempt."""
        return self.results().scorecards

    @property
    def units(self) -> dict[str, Units]:
        """The units of all scores that have them, by the name of the run.

        Bundles of an object store are copied to this machine for it, each once.
        """
        found: dict[str, Units] = {}
        for experiment in self.experiments:
            found |= experiment.units
        return found

    @property
    def warnings(self) -> list[str]:
        """Sentences about missing cells, and about scorecards that are malformed."""
        return self.results().warnings

    def status(self) -> StudyStatus:
        """Read how far each cell is, the costs, and when the study may end."""
        return read_study_status(
            self.store, self.name, self.info.created, self.cells, datetime.now(UTC)
        )

    @property
    def missing_runs(self) -> list[MissingRun]:
        """The missing cells for a report, with the reasons."""
        missing = self.missing
        return [
            MissingRun(
                run=cell.run,
                agent_digest=cell.agent_digest,
                experiment=cell.id,
                why=status.words,
            )
            for cell, status in zip(
                missing, read_cells(self.store, missing, set()), strict=True
            )
        ]

    def add_plan(
        self,
        name: str,
        text: str,
        cells: Sequence[Cell],
        total: TotalLimits = TotalLimits(),  # noqa: B008  # it is frozen
    ) -> None:
        """Make these cells the current plan; the first call creates the study."""
        created = datetime.now(UTC).isoformat()
        info = StudyInfo(id=uuid.uuid4().hex, name=name, created=created)
        self.store.create(STUDY, info.model_dump_json().encode())
        self.store.delete(CANCEL)
        self.store.replace(TOTAL, total.model_dump_json().encode())
        plan = StudyPlan(created=created, text=text, cells=tuple(cells))
        content = plan.model_dump_json(exclude={"created"}).encode()
        # An earlier plan becomes the current one again, so its time changes.
        file = f"plans/{hashlib.sha256(content).hexdigest()[:16]}.json"
        self.store.replace(file, plan.model_dump_json().encode())

    def cancel(self, *, running: bool = False) -> None:
        """Start no more cells, and with `running` stop those that run."""
        _ = self.info
        asked = {"at": utc_now(), "running": running}
        self.store.replace(CANCEL, json.dumps(asked).encode())

    def _published_ids(self, cells: Sequence[Cell]) -> list[str]:
        """Return published cells in the order of the plan, then the others."""
        published = self.store.published()
        planned = [cell.id for cell in cells if cell.id in published]
        return [*planned, *sorted(published - set(planned))]

    def results(self) -> StudyResults:
        """Read the scorecards of published cells, and which cells are missing."""
        cards: dict[str, Scorecard] = {}
        malformed: list[str] = []
        ids = self._published_ids(self.cells)
        for cell, result in self.store.summaries(ids):
            text = result.scorecards.encode()
            found, wrong = parse_scorecards(text, f"{cell}/scorecards.jsonl")
            malformed += wrong
            if found:
                cards[cell] = last_attempts(found)[-1]
        in_order = [cards[cell] for cell in ids if cell in cards]
        missing = self.missing_runs
        reasons = {one.experiment: one.why for one in missing}
        repeated = len(cards) - len({(one.run, one.task_name) for one in in_order})
        same = (
            f"{repeated} runs have the id of another run of the study; their limits,"
            " model arguments or code differ"
        )
        notes = (missing_note(reasons, len(cards)), same if repeated else "")
        return StudyResults(
            scorecards=in_order,
            missing=missing,
            warnings=[f"{self.name}: {note}" for note in [*notes, *malformed] if note],
        )


def view_of_results(results: Sequence[Experiment | Study]) -> ExperimentView:
    """Read experiments and studies for a report; missing cells are listed."""
    studies = [one for one in results if isinstance(one, Study)]
    return view_of(
        [
            experiment
            for one in results
            for experiment in (one.experiments if isinstance(one, Study) else [one])
        ],
        title=studies[0].name if len(results) == len(studies) == 1 else "",
        missing=[run for study in studies for run in study.missing_runs],
    )


def open_study(address: str | Path, task_paths: Iterable[Path] = ()) -> Study:
    """Open a study's folder or object store.

    Tasks outside the suite are looked for in `task_paths` only.
    """
    study = Study(open_store(str(address)), Named(task_paths=tuple(task_paths)))
    _ = study.info  # raises if there is none
    return study


_Kind = TypeVar("_Kind", bound=Record)


def _parsed(kind: type[_Kind], data: bytes, name: str) -> _Kind:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RecordError(f"{name} is damaged: {first['msg']}") from error
