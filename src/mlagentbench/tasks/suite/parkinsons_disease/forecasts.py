"""Which blood value, of which later visit, is to be predicted from which visit."""

from collections.abc import Iterator
from typing import NamedTuple

from .study import TARGETS, Patient, Visit

HORIZONS = {0: 0, 6: 182, 12: 365, 24: 730}
"""Months ahead, and the same in days."""
TOLERANCE = 90
"""A visit belongs to a horizon when it is at most this many days away from it."""


class Forecast(NamedTuple):
    """One value to be predicted."""

    patient: int
    visit: int
    """The number of the visit at which the forecast is made."""
    target: str
    months_ahead: int
    value: str


def forecasts(number: int, patient: Patient, at: Visit) -> Iterator[Forecast]:
    """List what can be asked at a visit: values that were really measured later."""
    for months, days in HORIZONS.items():
        later = _visit_near(patient, at, days)
        if later is None:
            continue
        for target in TARGETS:
            if later.cells[target]:
                yield Forecast(number, at.number, target, months, later.cells[target])


def followed_up(patient: Patient, at: Visit) -> bool:
    """Say whether there was a visit at one of the later horizons."""
    later = [days for days in HORIZONS.values() if days > 0]
    return any(_visit_near(patient, at, days) for days in later)


def known_at(patient: Patient, at: Visit) -> Patient:
    """Keep what was known when the forecast was made: no target of that very visit."""
    earlier = [visit for visit in patient if visit.number < at.number]
    hidden = at.cells | dict.fromkeys(TARGETS, "")
    return [*earlier, at._replace(cells=hidden)]


def _visit_near(patient: Patient, at: Visit, days: int) -> Visit | None:
    if days == 0:
        return at
    wanted = at.day + days
    nearest = min(patient, key=lambda visit: abs(visit.day - wanted))
    return nearest if abs(nearest.day - wanted) <= TOLERANCE else None
