"""What of two sides may be compared: the same tasks, versions and editions."""

from collections import Counter
from collections.abc import Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.tallies import counted

Cells = dict[str, list[Scorecard]]
Named = tuple[str, Sequence[Scorecard]]


class LeftOut(Record):
    """A task that is not compared."""

    task: str
    """`task@version/edition`."""
    why: str


def by_name(cards: Sequence[Scorecard]) -> Cells:
    """Put scorecards together that may be averaged: those of one task as it was."""
    cells: Cells = {}
    for card in cards:
        cells.setdefault(card.score_name, []).append(card)
    return cells


def common(a: Named, b: Named) -> tuple[tuple[Cells, Cells], list[LeftOut]]:
    """Return both sides' counted runs on tasks they share, and what else there is."""
    first, second = by_name(a[1]), by_name(b[1])
    chosen = _one_form_of_each_task([name for name in first if name in second])
    shared: list[str] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys([*first, *second]):
        why = (
            _lacking(name, a[0], first)
            or _lacking(name, b[0], second)
            or ("" if name in chosen else "another form of the task is compared")
        )
        if why:
            left_out.append(LeftOut(task=name, why=why))
        else:
            shared.append(name)
    kept = [{name: counted(side[name]) for name in shared} for side in (first, second)]
    return (kept[0], kept[1]), left_out


def different_starters(a: Cells, b: Cells) -> list[str]:
    """Name the shared tasks whose runs were not all measured by the same starter."""
    return [
        name for name in a if len({card.starter for card in [*a[name], *b[name]]}) > 1
    ]


def _lacking(name: str, side: str, cells: Cells) -> str:
    """Say what a side lacks for a task to be compared; nothing where it has it."""
    if name not in cells:
        return _absent(name, side, cells)
    runs = counted(cells[name])
    if not runs:
        return f"no run of {side} on it counts"
    measured = all(card.starter and card.starter.mean for card in runs)
    return "" if measured else "it has no starter to count improvement from"


def _absent(name: str, side: str, cells: Cells) -> str:
    others = [form for form in cells if _task(form) == _task(name)]
    if others:
        return f"{side} has it only as {', '.join(others)}, which is another task"
    return f"{side} has no run of it"


def _one_form_of_each_task(names: Sequence[str]) -> set[str]:
    """Choose the edition most tasks share, and each task's newest version in it."""
    editions = Counter(_edition(name) for name in names)
    if not editions:
        return set()
    [(edition, _)] = editions.most_common(1)
    newest: dict[str, str] = {}
    for name in sorted((n for n in names if _edition(n) == edition), key=_version):
        newest[_task(name)] = name
    return set(newest.values())


def _task(name: str) -> str:
    return name.rpartition("@")[0]


def _edition(name: str) -> str:
    return name.rpartition("@")[2].partition("/")[2]


def _version(name: str) -> int:
    return int(name.rpartition("@")[2].partition("/")[0])
