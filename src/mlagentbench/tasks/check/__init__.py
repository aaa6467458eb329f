"""Validation of tasks: one function per check, listed in `runner.py`.

The caller passes a `Bench`, which runs solutions and grades answers. The results are
`Finding`s, recorded in `checks.json` beside the task.
"""

from mlagentbench.tasks.check.evidence import Attempt, Bench, Finding
from mlagentbench.tasks.check.runner import check_task, read_checks, write_checks

__all__ = ["Attempt", "Bench", "Finding", "check_task", "read_checks", "write_checks"]
