"""Every run and every finding as lines of a table, one value a cell."""

from collections.abc import Iterable, Iterator, Sequence

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.export.cells import Cell, table_text

_APART = {"process", "by_budget", "actions", "errors", "unpriced"}
"""What is named by agents, or is a list: each is written in a way of its own."""
_PARTS = ("starter", "best_step", "first_success", "opinion")
"""Each gives several columns, or none."""
_FINDING = ("run", "check", "times", "steps", "why", "quote")


def runs_csv(cards: Sequence[Scorecard]) -> str:
    """Write one line per scorecard with every single value it holds."""
    lines = [_flat(card) for card in cards]
    names = list(dict.fromkeys(name for line in lines for name in line))
    return table_text(names, ([line.get(name) for name in names] for line in lines))


def findings_csv(cards: Sequence[Scorecard]) -> str:
    """Write one line per piece of evidence, and one for a check that shows none."""
    return table_text(_FINDING, (line for card in cards for line in _findings(card)))


def _flat(card: Scorecard) -> dict[str, Cell]:
    document = card.model_dump(mode="json", exclude=_APART)
    absent = {name for name in _PARTS if document[name] is None}
    values = {k: v for k, v in document.items() if k not in absent}
    after = {
        f"after_{point.steps}_steps_{name}": getattr(point, name)
        for point in card.by_budget
        for name in ("score", "success")
    }
    found = {f"found_{name}": check.value for name, check in card.process.items()}
    return {
        **dict(_values("", values)),
        "counts": card.ending.counts,
        "score_name": card.score_name,
        "actions": _counted(card.actions),
        "errors": _counted(card.errors),
        "unpriced": " ".join(card.unpriced),
        **after,
        **found,
    }


def _values(path: str, value: object) -> Iterator[tuple[str, Cell]]:
    """Name every value by its path; of lists only those of numbers are written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{path}_{key}" if path else str(key), inner)
    elif isinstance(value, list):
        if all(isinstance(one, int | float) for one in value):
            yield path, " ".join(map(str, value))
    elif value is None or isinstance(value, str | int | float):
        yield path, value


def _counted(counts: dict[str, int]) -> str:
    return "; ".join(f"{name[:80]} {count}" for name, count in counts.items())


def _findings(card: Scorecard) -> Iterable[tuple[Cell, ...]]:
    for name, check in card.process.items():
        for one in check.evidence:
            steps = " ".join(map(str, one.steps))
            yield card.run, name, check.value, steps, one.why, one.quote
        if check.value and not check.evidence:
            yield card.run, name, check.value, "", "", ""
