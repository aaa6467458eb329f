"""Optuna over the starter's constants.

Each trial writes the script with new constants and executes it. The best trial by the
validation score that the harness measured is put back in place and submitted.

Only assignments of one literal number or truth value to an upper-case name at the top
level count. Nothing of the script is executed or evaluated.

Every other proposal is the best one so far with one or two constants changed: with
few trials for many constants, one that changes them all spoils as much as it mends.
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
from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction

STEPS_PER_TRIAL = 2
STEPS_TO_CLOSE = 3
"""Writing and executing the best trial again, and the final answer."""


class Notebook:
    """Which scripts were executed, and what each one scored."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.scores: dict[str, float | None] = {}
        self.last = ""
        self.longest = 0.0

    def note(self, script: str, score: float | None, seconds: float) -> None:
        """Remember one execution."""
        self.scores[script] = score
        self.last = script
        self.longest = max(self.longest, seconds)

    @property
    def best(self) -> tuple[str, float] | None:
        """The script with the best validation score, if any has one."""
        scored = [
            (text, score) for text, score in self.scores.items() if score is not None
        ]
        return max(scored, key=lambda pair: self._sign * pair[1], default=None)


async def tuner(context: Context) -> None:
    """Search until the budget is nearly spent, restore the best, submit."""
    source = (await context.act("Read File", file_name=context.task.script)).observation
    constants = find_constants(source)
    search = Search(constants, context.task.direction, context.rng.randrange(2**31))
    if search.empty:
        await _submit_unchanged(context)
        return
    notebook = Notebook(context.task.direction.sign)
    await _explore(context, source, constants, search, notebook)
    if notebook.best is not None and notebook.best[0] != notebook.last:
        await _execute(context, notebook.best[0], notebook)
    await context.act("Final Answer", final_answer=_answer(notebook))


async def _submit_unchanged(context: Context) -> None:
    await context.act("Execute Script", script_name=context.task.script)
    answer = "The starter has no number constants to tune; it is submitted as it is."
    await context.act("Final Answer", final_answer=answer)


Number = bool | int | float


class Constant(Record):
    """One setting of a script, and where it stands."""

    name: str
    value: Number
    line: int
    """Counts from 0."""
    start: int
    """In bytes of the line, as Python's parser counts."""
    end: int


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
        self._chance = seeded_random(seed)
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


async def _explore(
    context: Context,
    source: str,
    constants: list[Constant],
    search: Search,
    notebook: Notebook,
) -> None:
    for _ in range(int(context.settings.get("trials", "1000"))):
        if not _affordable(context, notebook.longest):
            return
        trial, values = search.ask()
        script = with_values(source, constants, values)
        if script not in notebook.scores:
            await _execute(context, script, notebook)
        search.tell(trial, notebook.scores[script])


def _affordable(context: Context, longest: float) -> bool:
    left = context.remaining()
    enough_steps = left.steps >= STEPS_PER_TRIAL + STEPS_TO_CLOSE
    # A trial may take twice as long as any before it, and the best runs once more.
    return enough_steps and left.seconds > 3 * longest


async def _execute(context: Context, script: str, notebook: Notebook) -> None:
    name = context.task.script
    await context.act("Write File", file_name=name, content=script)
    step = await context.act("Execute Script", script_name=name)
    score = step.validation.value if step.validation else None
    notebook.note(script, score, step.seconds.execute)


def _answer(notebook: Notebook) -> str:
    tried = len(notebook.scores)
    if notebook.best is None:
        return f"None of {tried} trials produced a validation score."
    return f"The best of {tried} trials has validation score {notebook.best[1]:.6g}."


def find_constants(source: str) -> list[Constant]:
    """Return the script's number constants; none where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = [_constant(node) for node in tree.body]
    return [constant for constant in found if constant is not None]


def with_values(
    source: str, constants: list[Constant], values: dict[str, Number]
) -> str:
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
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            return None
    number = _number(value)
    if number is None or not name.isupper() or value.end_col_offset is None:
        return None
    return Constant(
        name=name,
        value=number,
        line=value.lineno - 1,
        start=value.col_offset,
        end=value.end_col_offset,
    )


def _number(value: ast.expr) -> Number | None:
    match value:
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case _:
            return None


FLOAT_REACH = 30
"""A float is searched, log-uniformly, from a 30th to 30 times its value."""
INT_REACH = 8
CHANGED_AT_MOST = 2


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
