"""An agent without a language model: it tunes the starter's number constants.

Each trial writes the script with new constants and executes it. The best trial by the
validation score that the harness measured is put back in place and submitted.
"""

from mlagentbench.agents.context import Context
from mlagentbench.agents.tuner.constants import Constant, find_constants, with_values
from mlagentbench.agents.tuner.search import Search

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
