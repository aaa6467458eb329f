"""One run of the modern research agent: a conversation, a ledger, and what to mind."""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.hearing import Heard, hear
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.modern.attention import Attention
from mlagentbench.agents.modern.ledger import Ledger, Trial
from mlagentbench.agents.modern.opening import Begun
from mlagentbench.agents.modern.settings import Settings
from mlagentbench.agents.modern.standing import standing
from mlagentbench.agents.moves import Move
from mlagentbench.agents.pace import Pace
from mlagentbench.core.trace import Fault, Step
from mlagentbench.environment.actions import ACTIONS

TRIALS_BEFORE_GOING_BACK = 2
BAD_REPLIES_AT_MOST = 6
"""In a row; then what is best so far is submitted."""
STEPS_TO_CLOSE = 2
"""Going back to the best, and the final answer."""


class Researcher:
    """A model with every action at hand, which executes when it wants to."""

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
        now = standing(mind, self._ledger, settings.ideas, self._context.remaining())
        # A malformed reply that is shown again is copied; a warmer one may differ.
        temperature = min(1.0, 0.4 + 0.2 * mind.bad_replies)
        return await hear(
            self._context,
            settings.language,
            settings.form,
            self._conversation.messages(now),
            GenerateConfig(temperature=temperature, max_tokens=settings.reply_tokens),
        )

    async def turn_down(self, heard: Heard, why: str, fault: Fault) -> None:
        """Record a reply that is not acted on, and say once what was wrong with it."""
        self._mind.bad_replies += 1
        self._mind.remark = why
        await self._context.reject(spoken(heard.output), why, fault=fault)

    async def do(self, heard: Heard, move: Move) -> None:
        """Take a move, unless nothing can come of it, and note what came of it."""
        if why := self._pointless(move):
            await self.turn_down(heard, why, "pointless")
            return
        self._mind.bad_replies, self._mind.remark = 0, ""
        told = await self._take(move)
        self._conversation.add(self._settings.language.exchange(heard.output, told))
        await self._conversation.shorten_in_time(self._context, heard.output)
        if self._mind.at_best:
            self._conversation.settle()
        elif self._is_astray():
            await self._go_back("the last trials were no better than the best")

    def _pointless(self, move: Move) -> str | None:
        if ACTIONS[move.action].executes and not self._mind.changed:
            return (
                "Nothing was changed since the last execution; change something first."
            )
        return None

    async def _take(self, move: Move) -> str:
        """Take a move, and return what the model is told about it."""
        step = await self._context.act(move.action, said=move.said, **move.given)
        if ACTIONS[move.action].executes:
            self._executed(step)
        else:
            self._mind.note(move, step)
        return step.told

    def _executed(self, step: Step) -> None:
        mind, trial = self._mind, self._ledger.note(step, self._mind.change)
        mind.ideas_used += mind.works
        mind.works = trial.value is not None
        mind.changed, mind.at_best = False, trial.kept

    def _is_astray(self) -> bool:
        """Tell whether there is nothing to gain from going on from here."""
        return self._ledger.since_best >= TRIALS_BEFORE_GOING_BACK

    async def submit(self, answer: str, said: dict[str, str] | None = None) -> None:
        """End with the best in place."""
        await self._go_back("it is submitted")
        await self._context.act("Final Answer", said=said, final_answer=answer)

    async def _go_back(self, why: str) -> None:
        best = self._ledger.best
        if best is None or self._mind.at_best:
            return
        await self._context.act("Restore Workspace", step_number=str(best.step))
        self._is_back_at(best, why)

    def _is_back_at(self, best: Trial, why: str) -> None:
        self._ledger.since_best = 0
        self._mind.at_best = self._mind.works = True
        self._mind.changed = False
        self._mind.remark = (
            f"The workspace was put back to what it was after step {best.step}: {why}."
        )
