"""mlagentbench: can an AI agent do machine-learning research?

The names here are pure records. To run something, import `mlagentbench.run` on
purpose: it loads the engine, which takes seconds.
"""

from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Budget, Direction, Task
from mlagentbench.core.trace import Ending, Step, Trace

__all__ = [
    "Budget",
    "Direction",
    "Ending",
    "RunId",
    "Scorecard",
    "Step",
    "Task",
    "Trace",
]
__version__ = "0.1.0"
