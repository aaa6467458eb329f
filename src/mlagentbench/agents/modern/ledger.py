"""The experiments of one run: what was tried, what was measured, what was kept."""

from mlagentbench.agents.complaint import complaint
from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Step

_LONGEST_FAILURE = 120


class Trial(Record):
    """One execution, and the validation score we measured after it."""

    step: int
    change: str
    """What was changed since the execution before, in a few words."""
    before: float | None
    """The best score until then."""
    value: float | None
    """None where nothing could be measured."""
    kept: bool
    """Whether it became the best."""
    failure: str = ""
    """Why nothing could be measured, in a line."""


class Ledger:
    """Every trial in order, and which is the best."""

    def __init__(self, metric: str, direction: Direction) -> None:
        self._metric = metric
        self._sign = direction.sign
        self.trials: list[Trial] = []
        self.best: Trial | None = None
        self.since_best = 0
        """Trials since the best one, all of them no better."""

    def note(self, step: Step, change: str) -> Trial:
        """Enter an execution."""
        value = step.validation.value if step.validation else None
        before = self.best.value if self.best else None
        trial = Trial(
            step=step.step,
            change=change,
            before=before,
            value=value,
            kept=self._is_better(value, before),
            failure="" if value is not None else _last_line(step.told),
        )
        self.trials.append(trial)
        self.since_best += 1
        if trial.kept:
            self.best, self.since_best = trial, 0
        return trial

    @property
    def fruitless(self) -> int:
        """How many trials came after the best, whatever was gone back to between."""
        until_best = 0 if self.best is None else self.trials.index(self.best) + 1
        return len(self.trials) - until_best

    def table(self, last: int = 8) -> str:
        """Return the last trials as lines, for a model to read."""
        shown = self.trials[-last:]
        if self.best is not None and self.best not in shown:
            shown = [self.best, *shown[1:]]
        return (
            "\n".join(self._line(trial) for trial in shown) or "nothing was tried yet"
        )

    def _line(self, trial: Trial) -> str:
        if trial.value is None:
            return f"- step {trial.step}: no score ({trial.failure}): {trial.change}"
        mark = "best" if trial == self.best else "kept" if trial.kept else "no better"
        measured = f"{self._metric} {trial.value:.6g}"
        return f"- step {trial.step}: {measured} ({mark}): {trial.change}"

    def _is_better(self, value: float | None, than: float | None) -> bool:
        if value is None:
            return False
        return than is None or self._sign * value > self._sign * than


def _last_line(told: str) -> str:
    lines = complaint(told).splitlines()
    return lines[-1].strip()[:_LONGEST_FAILURE] if lines else "nothing was said"
