"""The research agent with today's means: a ledger of experiments, and the best kept.

The starter runs first, so that every run has a baseline and something to submit. Then
the model says one move at a time and is shown what came of it, how the experiments
compare by the validation score we measured, and what is left of the budget. After two
trials that are no better than the best, the workspace goes back to the best; so it does
before submitting.
"""

from dataclasses import dataclass

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.languages.hearing import Heard, hear
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.modern.ledger import Ledger
from mlagentbench.agents.modern.settings import Settings, read_settings
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.agents.prompting import prompt
from mlagentbench.core.trace import Step
from mlagentbench.environment.actions import ACTIONS

TRIALS_BEFORE_GOING_BACK = 2
BAD_REPLIES_AT_MOST = 6
"""In a row; then what is best so far is submitted."""
STEPS_TO_CLOSE = 2
"""Going back to the best, and the final answer."""

_WRITES = {"Write File", "Append File", "Copy File", "Undo Edit Script"}
_EDITS = {"Edit Script (AI)", "Edit Script Segment (AI)"}


async def modern(context: Context) -> None:
    """Do research until the model has its answer or the budget is nearly spent."""
    settings = read_settings(context.settings, context.speech, context.task.modality)
    baseline = await context.act("Execute Script", script_name=context.task.script)
    researcher = Researcher(context, settings, baseline)
    while researcher.may_go_on():
        heard = await researcher.hear()
        match heard.understood:
            case Malformed() as malformed:
                await researcher.put_right(heard, malformed)
            case Move(action="Final Answer") as move:
                await researcher.submit(move.given["final_answer"], move.said)
                return
            case Move() as move:
                await researcher.do(heard, move)
    await researcher.submit("The budget is nearly spent; the best so far is submitted.")


@dataclass
class Attention:
    """What the researcher minds between two moves."""

    change: str = "the starter as it is"
    """What the next execution will try."""
    changed: bool = False
    """Whether anything was written since the last execution."""
    at_best: bool = True
    """Whether the workspace is as it was after the best trial."""
    bad_replies: int = 0
    longest: float = 0.0
    """Seconds of the longest execution so far."""
    remark: str = ""
    """What the model is told once, before its next move."""


class Researcher:
    """One run: a conversation, a ledger, and what to mind."""

    def __init__(self, context: Context, settings: Settings, baseline: Step) -> None:
        self._context = context
        self._settings = settings
        self._ledger = Ledger(context.task.metric, context.task.direction)
        self._mind = Attention()
        self._conversation = _opened(context, settings, baseline)
        self._executed(baseline)

    def may_go_on(self) -> bool:
        """Tell whether there is budget and hope for another move."""
        left = self._context.remaining()
        return (
            left.steps > STEPS_TO_CLOSE
            and left.seconds > 2 * self._mind.longest
            and self._mind.bad_replies < BAD_REPLIES_AT_MOST
        )

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
        mind = self._mind
        if ACTIONS[move.action].executes and not mind.changed:
            why = (
                "Nothing was changed since the last execution; change something first."
            )
            await self.put_right(heard, Malformed(why=why))
            return
        mind.bad_replies, mind.remark = 0, ""
        step = await self._context.act(move.action, said=move.said, **move.given)
        self._conversation.add(
            self._settings.language.exchange(heard.output, step.told)
        )
        await self._conversation.shorten_in_time(self._context, heard.output)
        self._note(move, step)
        if self._ledger.since_best >= TRIALS_BEFORE_GOING_BACK:
            await self._go_back("the last trials were no better than the best")

    def _note(self, move: Move, step: Step) -> None:
        mind = self._mind
        if step.ok and move.action in _WRITES | _EDITS:
            mind.changed, mind.at_best = True, False
            mind.change = _in_a_few_words(move)
        elif ACTIONS[move.action].executes:
            self._executed(step)
        elif step.ok and move.action == "Restore Workspace":
            mind.changed, mind.at_best = True, False
            mind.change = f"as after step {move.given['step_number']}"

    def _executed(self, step: Step) -> None:
        trial = self._ledger.note(step, self._mind.change)
        self._mind.changed = False
        self._mind.at_best = trial.kept
        self._mind.longest = max(self._mind.longest, step.seconds.execute)

    async def _go_back(self, why: str) -> None:
        best = self._ledger.best
        if best is None or self._mind.at_best:
            return
        await self._context.act("Restore Workspace", step_number=str(best.step))
        self._ledger.since_best = 0
        self._mind.at_best, self._mind.changed = True, False
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
            idea=self._idea(),
            ledger=self._ledger.table(),
            steps=str(left.steps),
            minutes=f"{left.seconds / 60:.0f}",
            tokens="" if left.tokens is None else f", {left.tokens} tokens",
        )

    def _idea(self) -> str:
        ideas, tried = self._settings.ideas, len(self._ledger.trials) - 1
        return (
            f"An idea for the next trial: {ideas[tried % len(ideas)]}" if ideas else ""
        )


def _opened(context: Context, settings: Settings, baseline: Step) -> Conversation:
    system = prompt("modern", answering=settings.language.explanation(settings.form))
    opening = prompt(
        "modern_opening",
        problem=context.problem,
        script=context.task.script,
        baseline=baseline.told,
    )
    return Conversation(system, opening, most_tokens=settings.context_tokens)


def _in_a_few_words(move: Move) -> str:
    told = move.given.get("edit_instruction") or move.said.get("Thought") or move.action
    line = " ".join(told.split())
    return line if len(line) <= 120 else f"{line[:117]}..."
