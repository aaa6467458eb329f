"""The tuner: a search over the starter's number constants with Optuna, no model.

Each trial writes the script with new constants and executes it. The tuner submits the
trial with the best validation score that the harness measured.

A constant is an assignment of a literal number or truth value to an upper-case name at
the top level. The tuner parses the script and never evaluates it.

Every other proposal is the best one so far with one or two constants changed: with
few trials for many constants, changing all of them does as much harm as good.
"""

import ast

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from mlagentbench.agents.context import Context, seeded_random
from mlagentbench.agents.settings import TunerSettings
from mlagentbench.core import Direction, Record

STEPS_PER_TRIAL = 2
STEPS_TO_CLOSE = 3
"""Writing and executing the best trial again, and the final answer."""
FLOAT_REACH = 30
"""A float is searched, log-uniformly, from a 30th to 30 times its value."""
INT_REACH = 8
MAX_CHANGED = 2

Number = bool | int | float
Values = dict[str, Number]


class TrialLog:
    """The executed scripts and their validation scores."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.scores: dict[str, float | None] = {}
        self.last = ""
        self.longest = 0.0

    def note(self, script: str, score: float | None, seconds: float) -> None:
        self.scores[script] = score
        self.last = script
        self.longest = max(self.longest, seconds)

    @property
    def best(self) -> tuple[str, float] | None:
        """The script with the best validation score, if any has one."""
        scored = [(text, one) for text, one in self.scores.items() if one is not None]
        return max(scored, key=lambda pair: self._sign * pair[1], default=None)


async def tuner(context: Context) -> None:
    """Search until the budget is nearly spent; submit the best trial."""
    settings = TunerSettings.read(context.settings)
    source = (await context.act("Read File", file_name=context.task.script)).observation
    constants = find_constants(source)
    search = Search(constants, context.task.direction, context.rng.randrange(2**31))
    if search.empty:
        await context.act("Execute Script", script_name=context.task.script)
        answer = (
            "The starter has no number constants to tune; it is submitted as it is."
        )
        await context.act("Final Answer", final_answer=answer)
        return
    log = TrialLog(context.task.direction.sign)
    for _ in range(settings.trials):
        if not _affordable(context, log.longest):
            break
        trial, values = search.ask()
        script = with_values(source, constants, values)
        if script not in log.scores:
            await _execute(context, script, log)
        search.tell(trial, log.scores[script])
    if log.best is not None and log.best[0] != log.last:
        await _execute(context, log.best[0], log)
    await context.act("Final Answer", final_answer=_answer(log))


class Constant(Record):
    """One constant of a script and its place."""

    name: str
    value: Number
    line: int
    """Counts from 0."""
    start: int
    """In bytes of the line, as Python's parser counts."""
    end: int


class Search:
    """A search over constants that learns from the scores of its proposals."""

    def __init__(
        self, constants: list[Constant], direction: Direction, seed: int
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = {
            constant.name: found
            for constant in constants
            if (found := _distribution(constant.value)) is not None
        }
        self._start: Values = {constant.name: constant.value for constant in constants}
        self._study = optuna.create_study(
            direction="maximize" if direction is Direction.HIGHER else "minimize",
            sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=6),
        )
        self._rng = seeded_random(seed)
        self._proposals = 0
        self._study.enqueue_trial({name: self._start[name] for name in self._space})

    @property
    def empty(self) -> bool:
        return not self._space

    def ask(self) -> tuple[optuna.Trial, Values]:
        """Propose values for every constant; the first proposal is the starter's."""
        self._proposals += 1
        complete = self._study.get_trials(
            deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)
        )
        if complete and self._proposals % 2 == 0:
            best = self._study.best_trial.params
            # The sampler fills in the constants that are left out.
            names = sorted(self._space)
            count = self._rng.randint(1, min(MAX_CHANGED, len(names)))
            changed = self._rng.sample(names, count)
            kept = {name: best[name] for name in names if name not in changed}
            self._study.enqueue_trial(kept)
        trial = self._study.ask(self._space)
        return trial, self._start | trial.params

    def tell(self, trial: optuna.Trial, score: float | None) -> None:
        """Report the validation score of a proposal, or None."""
        failed = optuna.trial.TrialState.FAIL if score is None else None
        self._study.tell(trial, score, failed)


def _affordable(context: Context, longest: float) -> bool:
    left = context.remaining()
    enough_steps = left.steps >= STEPS_PER_TRIAL + STEPS_TO_CLOSE
    # A trial may take twice as long as any before it, and the best runs once more.
    return enough_steps and left.seconds > 3 * longest


async def _execute(context: Context, script: str, log: TrialLog) -> None:
    name = context.task.script
    await context.act("Write File", file_name=name, content=script)
    step = await context.act("Execute Script", script_name=name)
    score = step.validation.value if step.validation else None
    log.note(script, score, step.seconds.execute)


def _answer(log: TrialLog) -> str:
    tried = len(log.scores)
    if log.best is None:
        return f"None of {tried} trials produced a validation score."
    return f"The best of {tried} trials has validation score {log.best[1]:.6g}."


def find_constants(source: str) -> list[Constant]:
    """Return the number constants of a script; none if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = [_constant(node) for node in tree.body]
    return [constant for constant in found if constant is not None]


def with_values(source: str, constants: list[Constant], values: Values) -> str:
    """Return the script with each constant set to its new value."""
    lines = source.split("\n")
    for constant in reversed(constants):  # Later ones first: columns stay valid.
        raw = lines[constant.line].encode()
        new = repr(values[constant.name]).encode()
        lines[constant.line] = (
            raw[: constant.start] + new + raw[constant.end :]
        ).decode()
    return "\n".join(lines)


def _constant(node: ast.stmt) -> Constant | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as literal):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as literal):
            pass
        case _:
            return None
    if not name.isupper() or not isinstance(literal.value, bool | int | float):
        return None
    return Constant(
        name=name,
        value=literal.value,
        line=literal.lineno - 1,
        start=literal.col_offset,
        end=literal.end_col_offset or 0,
    )


def _distribution(value: Number) -> BaseDistribution | None:
    if isinstance(value, bool):
        return CategoricalDistribution([True, False])
    if value <= 0:
        return None  # A zero or negative number has no scale to search on.
    if isinstance(value, int):
        low, high = max(1, round(value / INT_REACH)), value * INT_REACH
        return IntDistribution(low, high, log=True)
    return FloatDistribution(value / FLOAT_REACH, value * FLOAT_REACH, log=True)
