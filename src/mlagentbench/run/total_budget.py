"""The budget of a whole experiment: once it is spent, no new run starts."""

import time
from collections.abc import Sequence
from typing import Any

from inspect_ai.util import EarlyStop

from mlagentbench.experiment import Experiment, TotalLimits, read_status


class TotalBudget:
    """Keeps the limits of an experiment; Inspect asks it before it starts a sample.

    Running runs finish. So the total may be exceeded by as much as they still spend.
    """

    def __init__(self, limits: TotalLimits, experiment: Experiment) -> None:
        self._limits = limits
        self._experiment = experiment
        self._started = time.monotonic()
        self.reached: str | None = None
        """The limit that was reached, in words."""

    async def start_task(
        self,
        task: Any,  # noqa: ANN401, ARG002  # Inspect's signature
        samples: Sequence[Any],  # noqa: ARG002
        epochs: int,  # noqa: ARG002
    ) -> str:
        return "mlagentbench"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        self.reached = self.reached or self._exhausted()
        if self.reached is None:
            return None
        return EarlyStop(id=id, epoch=epoch, reason=self.reached)

    async def complete_sample(
        self,
        id: str | int,
        epoch: int,
        scores: dict[str, Any],
    ) -> None:
        """Ignore it: costs are read from the records when the next run starts."""

    async def complete_task(self) -> dict[str, Any]:
        return {}

    def _exhausted(self) -> str | None:
        hours, most = self._limits.hours, self._limits.cost_usd
        if hours is not None and time.monotonic() - self._started >= hours * 3600:
            return (
                f"not started: the experiment has run for --max-total-hours {hours:g}"
            )
        if most is None:
            return None
        spent = read_status(self._experiment).cost_usd
        if spent < most:
            return None
        return (
            f"not started: the experiment has cost ${spent:,.2f}, and"
            f" --max-total-cost is ${most:,.2f}"
        )
