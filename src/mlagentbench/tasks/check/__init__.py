"""Is a task sound? One small function per question, listed in `runner.py`.

Running solutions and judging answers is the business of whoever asks: it is handed
in as a `Bench`. What is found becomes `Finding`s, and `checks.json` beside the task.
"""

from mlagentbench.tasks.check.evidence import Attempt, Bench, Finding
from mlagentbench.tasks.check.runner import check, read_checks, write_checks

__all__ = ["Attempt", "Bench", "Finding", "check", "read_checks", "write_checks"]
