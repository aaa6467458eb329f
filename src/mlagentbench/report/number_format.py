"""Numbers and texts as a report shows them.

The size of a text is its bytes in the page, escaped and encoded: a hostile text cannot
make the page longer than a friendly one.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate

from markupsafe import escape

from mlagentbench.core import SUCCESS_THRESHOLD, Record, harmless


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

    A value that rounding would put on the success threshold gets more digits, so that
    the number shown never contradicts the verdict beside it.
    """
    if fraction is None or not math.isfinite(fraction):
        return number(fraction)
    if abs(fraction) >= 1e6:
        return f"{100 * fraction:+.1e} %"
    digits = 1
    on_threshold = fraction == SUCCESS_THRESHOLD
    while digits < 6 and not on_threshold and _rounds_to_threshold(fraction, digits):
        digits += 1
    return f"{100 * fraction:+,.{digits}f} %"


def share(fraction: float) -> str:
    """Write a proportion as a whole percentage."""
    return f"{100 * fraction:.0f} %"


def tenths(fraction: float) -> str:
    """Write a proportion in percent to the tenth, as the paper's tables do."""
    return f"{100 * fraction:.1f}"


def hundredths(score: float | None) -> str:
    """Write a normalised score; 1 is the reference."""
    if score is None or abs(score) >= 1_000:
        return number(score)
    return f"{score:.2f}"


def shade(fraction: float) -> int:
    """Return which of ten shades shows a proportion; 0 is none at all."""
    return min(10, max(0, math.ceil(10 * fraction)))


def improvement_shade(improvement: float) -> str:
    """Return the shade of an improvement: its sign, and more for more up to double."""
    if not math.isfinite(improvement) or round(improvement, 3) == 0:
        return "even"
    level = shade(math.sqrt(min(abs(improvement), 1.0)))
    return f"up{level}" if improvement > 0 else f"down{level}"


def compact(count: float) -> str:
    """Write a large count with the unit that keeps it short."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{number(count / size, digits=3)} {unit}"
    return f"{count:.0f}"


_MOST_SECONDS = 1e10


def duration(seconds: float) -> str:
    """Write a time with the two units that matter."""
    if not seconds < _MOST_SECONDS:
        # A damaged or foreign record; the sum of two may be infinite.
        return f"{number(seconds)} s"
    whole = round(seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02d} min"


def moment(text: str) -> str:
    """Write a time in ISO format to the minute; any other text stays as it is."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) <= len("2026-11-15"):
        return text
    zone = " UTC" if found.tzinfo else ""
    return f"{(found.astimezone(UTC) if zone else found):%Y-%m-%d %H:%M}{zone}"


def dollars(cost: float) -> str:
    """Write a price; small ones keep two digits that say something."""
    if not cost < 1e9:
        return f"${number(cost)}"
    return f"${cost:,.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.2g}"


def _rounds_to_threshold(fraction: float, digits: int) -> bool:
    return round(100 * fraction, digits) == round(100 * SUCCESS_THRESHOLD, digits)


PAGE = 5_700_000
"""Bytes a page may take; the promise is six million."""
_OUTSIDE = 1_450_000
"""Plotly, the style, and everything that does not grow with the runs."""
_OUTSIDE_A_RUN = 4_300
"""A run's line in the table, its part of the charts, its facts and headings."""
_ITEM_MARKUP = 510
"""Markup of a step, an execution and a finding together."""
_TEXTS_AN_ITEM = 8
"""Texts of a step, an execution, a finding and an LLM judge's mark together."""
_OTHER_TEXTS = 40
"""The plan, the traceback and the diffs of changed files, in texts."""
_MOST = 2_000_000
_COUNT_CHARACTERS = 80
_LINE_MARKUP = 12
_NAMED_AT_MOST = 6


class Caps(Record):
    """The share of each run that a page shows."""

    items: int
    """Of every list: steps, executions, findings, changed files."""
    text: int
    """Bytes of every text as they stand in the page: escaped and encoded."""


def caps(runs: int) -> Caps:
    """Return what every run of a page of so many runs may take."""
    each = min(_MOST, (PAGE - _OUTSIDE) // max(runs, 1) - _OUTSIDE_A_RUN)
    items = min(200, max(4, each // 2_000))
    text = (each - items * _ITEM_MARKUP) // (items * _TEXTS_AN_ITEM + _OTHER_TEXTS)
    return Caps(items=items, text=min(4_000, max(60, text)))


def fitted(text: str, limit: int, *, lines: int = 1_000) -> str:
    """Keep the first lines of a text that fit, and say how much was left out."""
    kept = _narrowed("\n".join(text[: max(limit, 0)].split("\n")[:lines]), limit)
    if not text[len(kept) :].strip():
        return kept.rstrip()
    mark = " ... ({:,} more characters)" if limit >= _COUNT_CHARACTERS else " ..."
    kept = _narrowed(kept, max(0, limit - len(mark) - 6)).rstrip()
    return kept + mark.format(len(text) - len(kept))


def fitted_end(text: str, limit: int, *, lines: int = 1_000) -> str:
    """Keep the last lines of a text that fit: there an error says what it is."""
    end = "\n".join(text[-max(limit, 1) :].split("\n")[-lines:])
    kept = _narrowed(end[::-1], max(0, limit - _COUNT_CHARACTERS // 2))[::-1].strip()
    hidden = len(text.strip()) - len(kept)
    return f"({hidden:,} characters before) ... {kept}" if hidden > 0 else kept


def fitting(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines that fit together."""
    sizes = accumulate(written_size(line) + _LINE_MARKUP for line in lines)
    return [line for line, size in zip(lines, sizes, strict=True) if size <= limit]


def listed(names: Iterable[str], between: str = ", ") -> str:
    """Write the first names of a list, and how many more there are."""
    found = list(names)
    more = len(found) - _NAMED_AT_MOST
    shown = between.join(fitted(name, 120, lines=1) for name in found[:_NAMED_AT_MOST])
    return f"{shown} and {more:,} more" if more > 0 else shown


def written_size(text: str) -> int:
    """Return how many bytes a text takes in the page."""
    return len(str(escape(harmless(text))).encode())


def _narrowed(text: str, limit: int) -> str:
    size = written_size(text)
    while text and size > limit:
        text = text[: min(len(text) - 1, len(text) * limit // size)]
        size = written_size(text)
    return text
