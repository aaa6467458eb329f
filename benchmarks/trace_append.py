"""What one more line of a trace costs, early and late in a long run.

Prints the median at step 10 and at step 5,000, written and flushed but not fsynced;
exits 1 where one takes more than a millisecond.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from mlagentbench.core.trace import Seconds, Spent, Step
from mlagentbench.experiment.trace_file import TraceWriter

LIMIT_MS = 1.0
STEPS = 5_000
AROUND = 10
OBSERVATION = "validation mae=21043.1 (measured)\n" * 30


def main() -> int:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory() as folder,
        TraceWriter(Path(folder) / "run.jsonl") as trace,
    ):
        taken = [timed(trace, number) for number in range(1, STEPS + AROUND)]
    early, late = around(taken, 10), around(taken, STEPS)
    for step, milliseconds in ((10, early), (STEPS, late)):
        print(f"trace append at step {step:5}: {milliseconds:.3f} ms")
    return 0 if max(early, late) <= LIMIT_MS else 1


def timed(trace: TraceWriter, number: int) -> float:
    """Append one ordinary step and return the seconds it took."""
    step = Step(
        run="house-price:tuner:none:0",
        step=number,
        agent_step=number,
        action="Execute Script",
        input={"script_name": "train.py"},
        observation=OBSERVATION,
        ok=True,
        spent=Spent(steps=number),
        seconds=Seconds(),
        started="2026-11-15T00:00:00+00:00",
    )
    clock = time.perf_counter()
    trace.append(step)
    return time.perf_counter() - clock


def around(taken: list[float], step: int) -> float:
    """Return the median cost, in milliseconds, of the appends around a step."""
    near = taken[step - AROUND : step + AROUND - 1]
    return 1000 * statistics.median(near)


if __name__ == "__main__":
    sys.exit(main())
