"""Numbers as written; bytes each part may take.

Sizes are bytes as they stand in the page: escaped and encoded. A hostile text cannot
make the page longer than a friendly one.
"""

import math

from markupsafe import escape

from mlagentbench.core.record import Record
from mlagentbench.core.score import SUCCESS_THRESHOLD
from mlagentbench.core.text import harmless


def number(value: float | None, *, digits: int = 4) -> str:
    """Write a value with `digits` significant digits, or all of its whole part."""
    if value is None:
        return "none"
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    before_point = math.floor(math.log10(abs(value))) + 1
    return f"{value:,.{max(0, digits - before_point)}f}"


def with_unit(value: float | None, unit: str) -> str:
    """Write a value and what it is counted in."""
    written = number(value)
    return f"{written} {unit}" if unit and value is not None else written


def percent(fraction: float | None) -> str:
    """Write a fraction as a signed percentage.

    A value that rounding would put on the success bar gets more digits, so that
    the number shown never contradicts the verdict beside it.
    """
    if fraction is None or not math.isfinite(fraction):
        return number(fraction)
    if abs(fraction) >= 1e6:
        return f"{100 * fraction:+.1e} %"
    digits = 1
    while (
        digits < 6 and fraction != SUCCESS_THRESHOLD and _lands_on_bar(fraction, digits)
    ):
        digits += 1
    return f"{100 * fraction:+,.{digits}f} %"


def share(fraction: float) -> str:
    """Write a proportion as a whole percentage."""
    return f"{100 * fraction:.0f} %"


def tenths(fraction: float) -> str:
    """Write a proportion in percent to the tenth, as the paper's tables do."""
    return f"{100 * fraction:.1f}"


def shade(fraction: float) -> int:
    """Return which of ten shades shows a proportion; 0 is none at all."""
    return min(10, max(0, math.ceil(10 * fraction)))


def gain_shade(gain: float) -> str:
    """Return the shade of an improvement: its sign, and more for more up to double."""
    if not math.isfinite(gain) or round(gain, 3) == 0:
        return "even"
    level = shade(math.sqrt(min(abs(gain), 1.0)))
    return f"up{level}" if gain > 0 else f"down{level}"


def compact(count: float) -> str:
    """Write a large count with the unit that keeps it short."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{number(count / size, digits=3)} {unit}"
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """Write a time with the two units that matter."""
    whole = round(seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02d} min"


def dollars(cost: float) -> str:
    """Write a price; small ones keep two digits that say something."""
    return f"${cost:,.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.2g}"


def _lands_on_bar(fraction: float, digits: int) -> bool:
    return round(100 * fraction, digits) == round(100 * SUCCESS_THRESHOLD, digits)


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
