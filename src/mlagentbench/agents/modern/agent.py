"""The research agent with today's means: a ledger of experiments, and the best kept.

The starter runs first, so that every run has a baseline and something to submit. Then
the model says one move at a time and is shown what came of it, how the experiments
compare by the validation score we measured, and what is left of the budget. After two
trials that are no better than the best, the workspace goes back to the best; so it does
before submitting. A small model is guided: it is shown the script, what it edits is
executed at once, an edit it has asked for before is not made again, and what was no
better is undone and forgotten, but for its line in the ledger.
"""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.complaint import complaint
from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.hearing import Heard, hear
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.modern.attention import Attention
from mlagentbench.agents.modern.guidance import in_full
from mlagentbench.agents.modern.ledger import Ledger
from mlagentbench.agents.modern.opening import Begun, begin
from mlagentbench.agents.modern.settings import Settings, read_settings
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.agents.pace import Pace
from mlagentbench.agents.prompting import prompt
from mlagentbench.core.trace import Step
from mlagentbench.environment.actions import ACTIONS

TRIALS_BEFORE_GOING_BACK = 2
BAD_REPLIES_AT_MOST = 6
"""In a row; then what is best so far is submitted."""
STEPS_TO_CLOSE = 2
"""Going back to the best, and the final answer."""


async def modern(context: Context) -> None:
    """Do research until the model has its answer or the budget is nearly spent."""
    settings = read_settings(context.settings, context.speech, context.task)
    pace = Pace(context)
    researcher = Researcher(context, settings, await begin(context, settings))
    while (why := researcher.reason_to_stop(pace)) is None:
        heard = await researcher.hear()
        match heard.understood:
            case Malformed() as malformed:
                await researcher.put_right(heard, malformed)
            case Move(action="Final Answer") as move:
                await researcher.submit(move.given["final_answer"], move.said)
                return
            case Move() as move:
                await researcher.do(heard, move)
    await researcher.submit(f"{why}; the best so far is submitted.")


class Researcher:
    """One run: a conversation, a ledger, and what to mind."""

    def __init__(self, context: Context, settings: Settings, begun: Begun) -> None:
        self._context = context
        self._settings = settings
        self._ledger = Ledger(context.task.metric, context.task.direction)
        self._mind = Attention()
        self._conversation = begun.conversation
        self._executed(begun.baseline)

    def reason_to_stop(self, pace: Pace) -> str | None:
        """Return why no further move is made; None where there is budget and hope."""
        enough_time = pace.another_fits()
        if not enough_time or self._context.remaining().steps <= STEPS_TO_CLOSE:
            return "The budget is nearly spent"
        if self._mind.bad_replies >= BAD_REPLIES_AT_MOST:
            return f"{BAD_REPLIES_AT_MOST} replies in a row were no moves"
        if self._ledger.fruitless >= self._settings.patience:
            return f"{self._settings.patience} trials in a row were no better"
        return None

    async def hear(self) -> Heard:
        """Ask for the next move; a conversation that is too long is made shorter."""
        heard = await self._ask()
        while heard.too_long and await self._conversation.make_fit(self._context):
            heard = await self._ask()
        return heard

    async def _ask(self) -> Heard:
        settings, mind = self._settings, self._mind
        # A malformed reply that is shown again is copied; a warmer one may differ.
        temperature = min(1.0, 0.4 + 0.2 * mind.bad_replies)
        return await hear(
            self._context,
            settings.language,
            settings.form,
            self._conversation.messages(self._standing()),
            GenerateConfig(temperature=temperature, max_tokens=settings.reply_tokens),
        )

    async def put_right(self, heard: Heard, malformed: Malformed) -> None:
        """Record a reply that is no move, and say once what was wrong with it."""
        self._mind.bad_replies += 1
        self._mind.remark = malformed.why
        await self._context.reject(spoken(heard.output), malformed.why)

    async def do(self, heard: Heard, move: Move) -> None:
        """Take a move, and note what came of it."""
        if self._settings.guided:
            move = in_full(move, self._context.task.script)
        if why := self._pointless(move):
            await self.put_right(heard, Malformed(why=why))
            return
        self._mind.bad_replies, self._mind.remark = 0, ""
        step = await self._context.act(move.action, said=move.said, **move.given)
        if ACTIONS[move.action].executes:
            self._executed(step)
        else:
            self._mind.note(move, step)
        told = step.told
        if self._settings.guided and self._mind.changed:
            told = f"{told}\n\n{await self._outcome_of_edit(move)}"
        self._conversation.add(self._settings.language.exchange(heard.output, told))
        await self._conversation.shorten_in_time(self._context, heard.output)
        if self._mind.at_best:
            self._conversation.settle()
        elif self._is_astray():
            await self._go_back("the last trials were no better than the best")

    def _is_astray(self) -> bool:
        """Tell whether there is nothing to gain from going on from here."""
        worse = self._settings.guided and self._mind.works
        return worse or self._ledger.since_best >= TRIALS_BEFORE_GOING_BACK

    def _pointless(self, move: Move) -> str | None:
        if ACTIONS[move.action].executes and not self._mind.changed:
            return (
                "Nothing was changed since the last execution; change something first."
            )
        if self._settings.guided and move.given in self._mind.edits:
            return "This very edit was tried before; try something else."
        return None

    async def _outcome_of_edit(self, edit: Move) -> str:
        self._mind.edits.append(edit.given)
        script = self._context.task.script
        step = await self._context.act("Execute Script", script_name=script)
        self._executed(step)
        return step.told if step.ok else f"It failed:\n{complaint(step.told)}"

    def _executed(self, step: Step) -> None:
        mind, trial = self._mind, self._ledger.note(step, self._mind.change)
        mind.ideas_used += mind.works
        mind.works = trial.value is not None
        mind.changed, mind.at_best = False, trial.kept

    async def _go_back(self, why: str) -> None:
        best = self._ledger.best
        if best is None or self._mind.at_best:
            return
        await self._context.act("Restore Workspace", step_number=str(best.step))
        self._ledger.since_best = 0
        self._mind.at_best = self._mind.works = True
        self._mind.changed = False
        if self._settings.guided:
            self._conversation.forget_the_rest()
        self._mind.remark = (
            f"The workspace was put back to what it was after step {best.step}: {why}."
        )

    async def submit(self, answer: str, said: dict[str, str] | None = None) -> None:
        """End with the best in place."""
        await self._go_back("it is submitted")
        await self._context.act("Final Answer", said=said, final_answer=answer)

    def _standing(self) -> str:
        left = self._context.remaining()
        return prompt(
            "modern_standing",
            remark=self._mind.remark,
            next=self._next(),
            ledger=self._ledger.table(),
            steps=str(left.steps),
            minutes=f"{left.seconds / 60:.0f}",
            tokens="" if left.tokens is None else f", {left.tokens} tokens",
        )

    def _next(self) -> str:
        """Return what the model is told to turn to, if anything."""
        ideas, mind = self._settings.ideas, self._mind
        if not mind.works:
            return "The last trial has no score: mend its cause before anything else."
        if not ideas:
            return ""
        return f"An idea for the next trial: {ideas[mind.ideas_used % len(ideas)]}"
