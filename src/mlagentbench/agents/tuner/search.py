"""A search over number constants with Optuna: ask for values, tell how they did.

Every other proposal is the best one so far with one or two constants changed: with
few trials for many constants, one that changes them all spoils as much as it mends.
"""

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from mlagentbench.agents.context import dice
from mlagentbench.agents.tuner.constants import Constant, Number
from mlagentbench.core.task import Direction

FLOAT_REACH = 30
"""A float is searched, log-uniformly, from a 30th to 30 times its value."""
INT_REACH = 8
CHANGED_AT_MOST = 2

Values = dict[str, Number]


class Search:
    """Proposes values for constants, learning from what it is told."""

    def __init__(
        self, constants: list[Constant], direction: Direction, seed: int
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = _space(constants)
        self._start: Values = {constant.name: constant.value for constant in constants}
        self._study = optuna.create_study(
            direction="maximize" if direction is Direction.HIGHER else "minimize",
            sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=6),
        )
        self._chance = dice(seed)
        self._asked = 0
        self._study.enqueue_trial({name: self._start[name] for name in self._space})

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search over."""
        return not self._space

    def ask(self) -> tuple[optuna.Trial, Values]:
        """Propose values for every constant; the first proposal is the starter's."""
        self._asked += 1
        best = self._best()
        if best is not None and self._asked % 2 == 0:
            self._study.enqueue_trial(self._mostly(best))
        trial = self._study.ask(self._space)
        return trial, self._start | trial.params

    def _best(self) -> Values | None:
        complete = self._study.get_trials(
            deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)
        )
        return self._study.best_trial.params if complete else None

    def _mostly(self, best: Values) -> Values:
        """Leave one or two constants out of `best`, for the sampler to fill in."""
        names = sorted(self._space)
        count = self._chance.randint(1, min(CHANGED_AT_MOST, len(names)))
        changed = self._chance.sample(names, count)
        return {name: best[name] for name in names if name not in changed}

    def tell(self, trial: optuna.Trial, score: float | None) -> None:
        """Report a proposal's validation score, or that it has none."""
        state = optuna.trial.TrialState
        if score is None:
            self._study.tell(trial, state=state.FAIL)
        else:
            self._study.tell(trial, score)


def _space(constants: list[Constant]) -> dict[str, BaseDistribution]:
    space = {constant.name: _distribution(constant.value) for constant in constants}
    return {name: found for name, found in space.items() if found is not None}


def _distribution(value: Number) -> BaseDistribution | None:
    if isinstance(value, bool):
        return CategoricalDistribution([True, False])
    if value <= 0:
        return None  # A zero or negative number has no scale to search on.
    if isinstance(value, int):
        low, high = max(1, round(value / INT_REACH)), value * INT_REACH
        return IntDistribution(low, high, log=True)
    return FloatDistribution(value / FLOAT_REACH, value * FLOAT_REACH, log=True)
