"""The experiments of one run: what was tried, what was measured, what was kept."""

from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Step


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
        score = "no score" if trial.value is None else f"{trial.value:.6g}"
        mark = "best" if trial == self.best else "kept" if trial.kept else "no better"
        return f"- step {trial.step}: {self._metric} {score} ({mark}): {trial.change}"

    def _is_better(self, value: float | None, than: float | None) -> bool:
        if value is None:
            return False
        return than is None or self._sign * value > self._sign * than
