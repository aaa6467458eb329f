"""Is a task sound? One small function per question, listed in `soundness.py`.

Running solutions and judging answers is the business of whoever asks: it is handed
in as a `Bench`. What is found becomes `Finding`s, and `checks.json` beside the task.
"""

from mlagentbench.tasks.check.bench import Attempt, Bench, Finding
from mlagentbench.tasks.check.records import read_checks, write_checks
from mlagentbench.tasks.check.soundness import check

__all__ = ["Attempt", "Bench", "Finding", "check", "read_checks", "write_checks"]
