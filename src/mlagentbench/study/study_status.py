"""How far a study is, read from its store alone.

Nothing is locked and no process is asked. So this works beside a driver, on another
machine, and on a study whose driver was killed.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum, auto
from statistics import fmean
from typing import Any

from mlagentbench.core import Record, first_lines, harmless, lease_holder, who
from mlagentbench.experiment import TotalLimits
from mlagentbench.report import StatusTable, dollars, duration
from mlagentbench.study.cell import Cell
from mlagentbench.study.store import Store, Summary

CANCEL = "cancel.json"
TOTAL = "total.json"


class CellState(StrEnum):
    """How far a cell is."""

    PUBLISHED = auto()
    RUNNING = auto()
    """A live process holds its lease."""
    WAITING = auto()
    """No process runs it; it may have steps that the next process resumes."""
    FAILED = auto()
    """Its last attempt has no result that counts; the next driver tries again."""


class CellStatus(Record):
    """How far one cell is."""

    cell: str
    run: str
    task: str
    """`task@version/edition`."""
    who: str
    """The agent and its model."""
    state: CellState
    place: str = ""
    """Where it runs, or last ran."""
    ending: str = ""
    """Of a published cell."""
    success: bool | None = None
    """None if the cell is not published, or in no average."""
    steps: int = 0
    resumable: bool = True
    """False if steps are recorded on the node alone: if that is lost, the cell starts
    again."""
    seconds: float = 0.0
    """Time of a published cell."""
    cost_usd: float = 0.0
    """Of all attempts."""
    attempts: int = 0
    """Failed ones."""
    reason: str = ""
    """Why it failed."""
    updated: str | None = None
    """Time of its last record."""

    @property
    def words(self) -> str:
        """The state in words."""
        steps = f"step {self.steps}" if self.steps else ""
        match self.state:
            case CellState.FAILED:
                return f"failed: {first_lines(self.reason, lines=1, characters=200)}"
            case CellState.RUNNING:
                return ", ".join(filter(None, (f"running on {self.place}", steps)))
            case CellState.WAITING if steps:
                resumes = f"resumes after {steps}"
                return f"waiting, {resumes if self.resumable else 'starts again'}"
        return self.state


class StudyStatus(Record):
    """How far a study is."""

    study: str
    """Its address."""
    name: str
    started: str
    cells: tuple[CellStatus, ...]
    """Of the current plan."""
    counts: dict[CellState, int]
    earlier: int = 0
    """Published cells that only earlier versions of the study's file plan."""
    cost_usd: float = 0.0
    max_cost_usd: float | None = None
    """The limit that the last driver was given."""
    hours: float = 0.0
    """Time of all published cells together."""
    expected_end: str | None = None
    """None if no cell runs, or none is published yet."""
    cancelled: bool = False

    @property
    def is_over(self) -> bool:
        """Whether no cell is waiting or running."""
        return not self.counts[CellState.WAITING] and not self.counts[CellState.RUNNING]


def read_cells(
    store: Store, cells: Sequence[Cell], published: set[str]
) -> list[CellStatus]:
    """Read how far each cell is."""
    named = {cell.id: cell for cell in cells}
    work: dict[str, set[str]] = defaultdict(set)
    if not named.keys() <= published:
        for name in store.names("work/"):
            _, cell_id, file = name.split("/", 2)
            work[cell_id].add(file)
    results = dict(store.summaries(named.keys() & published))
    return [
        _published(_about(cell_id, cell), results[cell_id])
        if cell_id in results
        else _unpublished(_about(cell_id, cell), store, work.get(cell_id, set()))
        for cell_id, cell in named.items()
    ]


def read_study_status(
    store: Store, name: str, started: str, plan: Sequence[Cell], now: datetime
) -> StudyStatus:
    """Read how far the cells of a plan are, and estimate when the study ends."""
    published = store.published()
    cells = read_cells(store, plan, published)
    counts = Counter(cell.state for cell in cells)
    total = TotalLimits.model_validate_json(store.read(TOTAL) or b"{}")
    return StudyStatus(
        study=store.address,
        name=name,
        started=started,
        cells=tuple(cells),
        counts={state: counts[state] for state in CellState},
        earlier=len(published - {cell.cell for cell in cells}),
        cost_usd=sum(cell.cost_usd for cell in cells),
        max_cost_usd=total.cost_usd,
        hours=sum(cell.seconds for cell in cells) / 3600,
        expected_end=_expected_end(cells, now),
        cancelled=store.read(CANCEL) is not None,
    )


def _about(cell_id: str, cell: Cell) -> dict[str, Any]:
    run = cell.run
    return {"cell": cell_id, "run": str(run), "task": cell.task_name, "who": who(run)}


def _published(about: dict[str, Any], result: Summary) -> CellStatus:
    """Read the scorecards as plain JSON, because 2,000 of them must be read at once."""
    cards = [_document(line) for line in result.scorecards.splitlines()]
    last = cards[-1] if cards else {}
    counts = not last.get("baseline_error")
    return CellStatus(
        **about,
        state=CellState.PUBLISHED,
        ending=str(last.get("ending", "")),
        success=bool(last.get("success")) if last and counts else None,
        steps=last.get("steps", 0),
        seconds=(last.get("seconds") or {}).get("total", 0.0),
        cost_usd=sum(card.get("cost_usd", 0.0) for card in cards),
        updated=last.get("created"),
    )


def _unpublished(about: dict[str, Any], store: Store, files: set[str]) -> CellStatus:
    prefix = f"work/{about['cell']}/"
    has_lease = any(file.startswith("lease-") for file in files)
    is_running = has_lease and lease_holder(store, prefix) is not None
    place, failed = (
        _document(store.read(prefix + file) or b"{}") if file in files else {}
        for file in ("place.json", "failed.json")
    )
    state = CellState.RUNNING if is_running else CellState.WAITING
    if failed and not is_running:
        state = CellState.FAILED
    reason = ": ".join(filter(None, (failed.get("ending"), failed.get("reason"))))
    return CellStatus(
        **about,
        state=state,
        place=place.get("place", ""),
        steps=place.get("steps", 0),
        resumable=not place.get("steps") or "progress/experiment.json" in files,
        cost_usd=max(place.get("cost_usd", 0.0), failed.get("cost_usd", 0.0)),
        attempts=failed.get("attempts", 0),
        reason=reason,
        updated=place.get("updated") or failed.get("at"),
    )


def _document(text: str | bytes) -> dict[str, Any]:
    """Read a JSON object; one that is damaged has no fields."""
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return {}


def _expected_end(cells: Sequence[CellStatus], now: datetime) -> str | None:
    """Assume that each cell takes as long as published ones of its task and agent.

    As many cells run at a time as run now, and each of those is half done.
    """
    running = [cell for cell in cells if cell.state is CellState.RUNNING]
    waiting = [cell for cell in cells if cell.state is CellState.WAITING]
    done = [cell for cell in cells if cell.state is CellState.PUBLISHED]
    if not running or not done:
        return None
    keys: tuple[Callable[[CellStatus], object], ...] = (
        lambda cell: (cell.task, cell.who),
        lambda cell: cell.task,
        lambda _: None,
    )
    means = [_mean_seconds(done, key) for key in keys]

    def expected(cell: CellStatus) -> float:
        found = (mean.get(key(cell)) for key, mean in zip(keys, means, strict=True))
        return next(seconds for seconds in found if seconds is not None)

    work = sum(map(expected, waiting)) + sum(map(expected, running)) / 2
    end = now + timedelta(seconds=work / len(running))
    return end.isoformat(timespec="seconds")


def _mean_seconds(
    cells: Iterable[CellStatus], key: Callable[[CellStatus], object]
) -> dict[object, float]:
    groups: dict[object, list[float]] = defaultdict(list)
    for cell in cells:
        groups[key(cell)].append(cell.seconds)
    return {name: fmean(group) for name, group in groups.items()}


def study_line(status: StudyStatus, now: datetime) -> str:
    """Return in one line how far a study is."""
    counts = [f"{count} {state}" for state, count in status.counts.items() if count]
    most = "" if status.max_cost_usd is None else f" of {dollars(status.max_cost_usd)}"
    parts = [
        f"{len(status.cells)} cell{'s' if len(status.cells) > 1 else ''}",
        ", ".join(counts),
        f"{dollars(status.cost_usd)}{most} for models",
        f"{duration(3600 * status.hours)} of work published",
    ]
    if status.expected_end is not None:
        end = datetime.fromisoformat(status.expected_end)
        left = duration(max(0.0, (end - now).total_seconds()))
        parts.append(f"expected end in {left}, at {end:%Y-%m-%d %H:%M} UTC")
    running = [cell for cell in status.cells if cell.state is CellState.RUNNING]
    if alone := sum(not cell.resumable for cell in running):
        parts.append(
            f"the steps of {alone} running are on their nodes only: if one is lost, its"
            " cells start again"
        )
    if status.cancelled:
        parts.append("cancelled")
    elif not running and len(status.cells) > status.counts[CellState.PUBLISHED]:
        parts.append("no cell runs; continue with `mlab study`")
    if status.earlier:
        parts.append(f"{status.earlier} more published by earlier versions of the file")
    return "; ".join(parts)


def status_tables(status: StudyStatus) -> list[StatusTable]:
    """Return the cells by task and agent, those that run, and those that failed."""
    groups: dict[tuple[str, str], list[CellStatus]] = defaultdict(list)
    for cell in status.cells:
        groups[cell.task, cell.who].append(cell)
    running = [cell for cell in status.cells if cell.state is CellState.RUNNING]
    failed = [cell for cell in status.cells if cell.state is CellState.FAILED]
    return [
        StatusTable(
            title="Cells",
            columns=["task", "agent", *CellState, "success", "time", "cost"],
            optional=("time", "cost"),
            rows=[_group_row(*names, group) for names, group in groups.items()],
        ),
        StatusTable(
            title="Running cells",
            columns=["cell", "place", "step", "cost", "last record"],
            prose=("place",),
            rows=[
                [
                    cell.cell,
                    harmless(cell.place),
                    str(cell.steps),
                    dollars(cell.cost_usd),
                    cell.updated or "",
                ]
                for cell in running
            ],
        ),
        StatusTable(
            title="Failed cells",
            columns=["cell", "attempts", "reason"],
            rows=[
                [
                    cell.cell,
                    str(cell.attempts),
                    harmless(first_lines(cell.reason, lines=1, characters=200)),
                ]
                for cell in failed
            ],
        ),
    ]


def cell_table(cells: Iterable[CellStatus]) -> StatusTable:
    """Return a row per cell: how far it is, or its result."""
    success = {True: "yes", False: "no", None: ""}
    rows = [
        [
            cell.cell,
            harmless(cell.run),
            harmless(cell.ending.replace("_", " ") or cell.words),
            str(cell.steps),
            success[cell.success],
            duration(cell.seconds) if cell.seconds else "",
            dollars(cell.cost_usd),
        ]
        for cell in cells
    ]
    return StatusTable(
        columns=["cell", "run", "state", "step", "success", "time", "cost"],
        rows=rows,
        prose=("state",),
        optional=("run", "time", "cost"),
    )


def _group_row(task: str, name: str, cells: Sequence[CellStatus]) -> list[str]:
    counts = Counter(cell.state for cell in cells)
    rated = [cell.success for cell in cells if cell.success is not None]
    return [
        harmless(task),
        harmless(name),
        *(str(counts[state]) for state in CellState),
        f"{sum(rated)} of {len(rated)}" if rated else "",
        duration(sum(cell.seconds for cell in cells)),
        dollars(sum(cell.cost_usd for cell in cells)),
    ]
