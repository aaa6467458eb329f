"""Grading: a submission becomes a verdict.

The grader process sees labels and runs nothing of the agent's. Submitted code runs in
new sandboxes, on inputs without labels; its outputs, and its times by the harness's
clock, are the answers that the task's grader grades.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
