"""How much of the page each part of a run may take, so that the page stays readable.

Sizes are bytes as they stand in the page: escaped and encoded. A hostile text cannot
make the page longer than a friendly one.
"""

from markupsafe import escape

from mlagentbench.core.record import Record
from mlagentbench.report.plain import harmless

PAGE = 5_700_000
"""What a page may take; the promise is six million."""
_OUTSIDE = 1_450_000
"""Plotly, the style, and everything that does not grow with the runs."""
_OUTSIDE_A_RUN = 2_400
"""A run's line in the table and its part of the charts."""
_FRAME = 1_900
"""What a fold takes before anything is written into it: facts, headings."""
_MOST = 300_000
_LEAST = 1_500
_ROOM_FOR_A_COUNT = 80


class Portion(Record):
    """Some of a list: how many of its items, and how long each may be."""

    items: int
    each: int

    def of(self, share: float) -> int:
        """Return a share of one item's length."""
        return int(self.each * share)


class Allowance(Record):
    """What each part of one run may take."""

    fact: int
    """Each of them."""
    plan: int
    diff: int
    experiments: int
    findings: int
    steps: int


def allowance(runs: int) -> Allowance:
    """Share the page among its runs."""
    for_all = PAGE - _OUTSIDE - runs * _OUTSIDE_A_RUN
    each = min(_MOST, max(_LEAST, for_all // max(runs, 1) - _FRAME))
    return Allowance(
        fact=max(160, min(400, each // 30)),
        plan=each * 8 // 100,
        diff=each * 22 // 100,
        experiments=each * 26 // 100,
        findings=each * 14 // 100,
        steps=each * 30 // 100,
    )


def portion(room: int, count: int, *, frame: int, least: int, most: int) -> Portion:
    """Show as many items as there is room for, each at least so long."""
    items = max(0, min(count, room // (frame + least)))
    each = room // items - frame if items else 0
    return Portion(items=items, each=max(0, min(most, each)))


def fitted(text: str, room: int, *, lines: int = 1_000) -> str:
    """Keep the first lines of a text that fit, and say how much was left out."""
    kept = _narrowed("\n".join(text[: max(room, 0)].split("\n")[:lines]), room)
    if not text[len(kept) :].strip():
        return kept.rstrip()
    mark = " ... ({:,} more characters)" if room >= _ROOM_FOR_A_COUNT else " ..."
    kept = _narrowed(kept, max(0, room - len(mark) - 6)).rstrip()
    return kept + mark.format(len(text) - len(kept))


def fitted_end(text: str, room: int, *, lines: int = 1_000) -> str:
    """Keep the last lines of a text that fit: there an error says what it is."""
    end = "\n".join(text[-max(room, 1) :].split("\n")[-lines:])
    kept = _narrowed(end[::-1], max(0, room - _ROOM_FOR_A_COUNT // 2))[::-1].strip()
    hidden = len(text.strip()) - len(kept)
    return f"({hidden:,} characters before) ... {kept}" if hidden > 0 else kept


def written_size(text: str) -> int:
    """Return how many bytes a text takes in the page."""
    return len(str(escape(harmless(text))).encode())


def _narrowed(text: str, room: int) -> str:
    size = written_size(text)
    while text and size > room:
        text = text[: min(len(text) - 1, len(text) * room // size)]
        size = written_size(text)
    return text
