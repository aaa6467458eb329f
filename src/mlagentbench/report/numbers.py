"""How numbers are written, in the page and in the terminal alike."""

import math

from mlagentbench.core.task import SUCCESS_BAR


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
    while digits < 6 and fraction != SUCCESS_BAR and _lands_on_bar(fraction, digits):
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
    return round(100 * fraction, digits) == round(100 * SUCCESS_BAR, digits)
