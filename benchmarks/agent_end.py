"""How long an agent that does not end outlives its budget.

Five outside agents sleep, loop, ignore cancellation, flood their output or wait for
their own client. Prints the seconds from the end of the budget to the recorded end of
the run; exits 1 if one takes more than 10 s, or ends otherwise than out of time.
"""

import sys
import tempfile
from pathlib import Path

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run

LIMIT = 10.0
BUDGET = 6.0
TESTS = Path(__file__).parent.parent / "tests"
AGENTS = ("napper", "looper", "stubborn", "flooder", "asker")


def main() -> int:
    """Run each agent until its time is over, and print by how much it is exceeded."""
    sys.path.insert(0, str(TESTS / "end_to_end"))
    return max(map(_exceeds, AGENTS))


def _exceeds(agent: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            tasks=(str(TESTS / "data" / "recorded" / "task"),),
            agent=f"hands:{agent}",
            budget=BudgetOverride(minutes=BUDGET / 60),
            out=Path(folder),
        )
        experiment = run(plan)
        end = experiment.trace(experiment.runs()[0]).end
    if end is None or end.ending is not Ending.OUT_OF_TIME:
        print(f"{agent:10} ended otherwise: {end}")
        return 1
    late = end.seconds - BUDGET
    print(f"{agent:10} ends {late:4.1f} s after its budget (at most {LIMIT:g} s)")
    return int(late > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
