"""What an action works on: a task's workspace inside a sandbox."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.task import Task

CheckSubmission = Callable[[], Awaitable[str | None]]
"""Would the submission be accepted as it lies there? The reason where not."""


@dataclass(frozen=True)
class Room:
    """One agent's workspace; everything reaches it through the sandbox interface."""

    task: Task
    sandbox: SandboxEnvironment
    check_submission: CheckSubmission
    seconds_left: Callable[[], float]
    """How long an execution may still take."""
    step: Callable[[], int]
    """The number of the step under way."""
