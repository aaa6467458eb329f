"""Hours of misfortune in minutes: many runs, killed again and again, nothing lost.

Run it as `python tools/soak.py [--minutes 15] [--parts boundaries]`; it exits 1 where a
run came out differently, memory grew, or anything was left behind. The part `attacks`
has as many minutes again: 500 executions of random attacks in a row.
"""

import argparse
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests" / "end_to_end")]

from tests.faults import soaking  # noqa: E402
from tests.faults.disk import FullAt  # noqa: E402
from tests.faults.harness import Job, Place, Point, finish  # noqa: E402
from tests.faults.killing import (  # noqa: E402
    Undisturbed,
    killed_after,
    killed_at,
    said,
    side_by_side,
    undisturbed,
)
from tests.faults.plans import plan_for  # noqa: E402
from tests.redteam.in_a_row import attack_in_a_row  # noqa: E402
from tests.redteam.setup import open_setup  # noqa: E402

from mlagentbench.core.cache import default_cache  # noqa: E402

T = TypeVar("T")

SHOWN = (0.1, 0.2, 0.5, 1.0)
"""Shares of the runs after which figures are printed."""
PARTS = ("runs", "moments", "boundaries", "disks", "attacks")
MOMENTS = 40
BATCH = 8


class Soak:
    """One soak: what it looks at, how long it may take, what it found."""

    def __init__(self, place: Place, minutes: float, seed: int) -> None:
        """Work in `place` until the time is up."""
        self.place = place
        self.chance = random.Random(seed)
        self._ends = time.monotonic() + 60 * minutes
        self.problems: list[str] = []

    def say(self, text: str) -> None:
        """Print a line that stays."""
        minutes = max(0.0, self._ends - time.monotonic()) / 60
        self.progress("")
        sys.stdout.write(f"[{minutes:4.1f} min left] {text}\n")
        sys.stdout.flush()

    def progress(self, text: str) -> None:
        """Show a line that is soon replaced, where somebody looks."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()

    def many_runs(self, runs: int, at_once: int) -> None:
        """Run many at a time, in peace and then killed five times."""

        def tell(figures: soaking.Figures) -> None:
            self.progress(str(figures))

        reference = soaking.many(self.place, "in-peace", runs, at_once)
        figures = soaking.in_peace(reference, tell)
        for share in SHOWN:
            self.say(str(soaking.after(figures, share)))
        grown = soaking.growth(figures)
        self.say(f"memory after the first fifth of {runs} runs: {grown:+.1%}")
        if grown > soaking.GROWTH:
            self.problems.append(f"memory grew by {grown:.1%}")
        job = soaking.many(self.place, "disturbed", runs, at_once)
        soaking.disturbed(job, 5, self.chance, tell)
        different = soaking.differing(job, reference)
        self.say(f"{runs} runs killed 5 times: {len(different)} came out differently")
        self.problems += different

    def random_moments(self, agent: str, reference: Undisturbed) -> None:
        """Kill one agent's run at random moments."""
        longest = 1.2 * reference.seconds
        moments = [self.chance.uniform(0.1, longest) for _ in range(MOMENTS)]
        self._all(
            f"random moments of {agent}",
            moments,
            lambda at: killed_after(reference, at),
        )

    def boundaries(self, agent: str, reference: Undisturbed) -> None:
        """Kill one agent's run at every write boundary."""
        self._all(
            f"write boundaries of {agent}",
            reference.points(),
            lambda at: killed_at(reference, at),
        )

    def full_disks(self, reference: Undisturbed) -> None:
        """Fill the disk under a run at every write boundary."""

        def fill(points: list[Point]) -> list[str]:
            return side_by_side(lambda at: self._full(reference, at), points)

        self._all("full disks", reference.points(), fill)

    def _full(self, reference: Undisturbed, point: Point) -> list[str]:
        name = f"full-{point.number}-{point.moment}"
        job = Job(self.place, plan_for("quick", self.place.top / name, name))
        if finish(job, FullAt(point, reference.outcome)) != 0:
            return [f"{name}: {said(job)}"]
        found: list[str] = json.loads(job.notes.read_text())
        return [f"{name}: {problem}" for problem in found]

    def _all(
        self, what: str, things: list[T], work: Callable[[list[T]], list[str]]
    ) -> None:
        """Do as many as there is time for, in any order, a few at a time."""
        self.chance.shuffle(things)
        found: list[str] = []
        done = 0
        while done < len(things) and time.monotonic() < self._ends:
            batch = things[done : done + BATCH]
            found += work(batch)
            done += len(batch)
            self.progress(f"{what}: {done} of {len(things)}")
        self.say(f"{what}: {done} of {len(things)} tried, {len(found)} problems")
        self.problems += found

    def attacks(self, count: int, minutes: float) -> None:
        """Carry out random attacks in a row, with minutes of their own."""
        self._ends = time.monotonic() + 60 * minutes
        with open_setup(default_cache()) as setup:
            row = attack_in_a_row(setup, count, self.chance, self._ends, self.progress)
        done = len(row.memory_mb)
        self.say(
            f"{done} attacks in a row: memory {row.memory_mb[0]:.0f} to"
            f" {row.memory_mb[-1]:.0f} MB, {row.growth:+.1%} when warm,"
            f" {row.descriptors[-1]} open descriptors, {len(row.succeeded)} succeeded,"
            f" {row.left or 'nothing left behind'}"
        )
        self.problems += row.problems
        if done < count:
            self.problems.append(f"only {done} of {count} attacks in {minutes:g} min")

    def look_for_leftovers(self) -> None:
        """Say what is left on the machine."""
        left = self.place.leftovers()
        self.say(str(left))
        self.problems += [str(left)] if left.any else []


def main() -> int:
    """Soak and sum up."""
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="mlab-soak-") as top:
        place = Place(Path(top) / "place", default_cache())
        soak = Soak(place, given.minutes, given.seed)
        soak.say(f"seed {given.seed}")
        if "runs" in given.parts:
            soak.many_runs(given.runs, given.at_once)
        if set(given.parts) & {"moments", "boundaries", "disks"}:
            _one_run_at_a_time(soak, given.parts)
        soak.look_for_leftovers()
    if "attacks" in given.parts:
        soak.attacks(given.attacks, given.minutes)
    for problem in soak.problems:
        soak.say(problem)
    return 1 if soak.problems else 0


def _one_run_at_a_time(soak: Soak, parts: list[str]) -> None:
    quick, tuner, thinker = (
        undisturbed(soak.place, kind) for kind in ("quick", "tuner", "thinker")
    )
    if "moments" in parts:
        soak.random_moments("tuner", tuner)
        soak.random_moments("thinker", thinker)
    if "boundaries" in parts:
        soak.boundaries("tuner", tuner)
        soak.boundaries("thinker", thinker)
        soak.boundaries("quick", quick)
    if "disks" in parts and os.geteuid() == 0:
        soak.full_disks(quick)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
