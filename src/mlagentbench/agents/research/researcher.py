"""Researcher, GuidedResearcher, Ledger, what the model is told.

An edit it has asked for before is not made again, and what was no better is undone and
forgotten, but for its line in the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context, Remaining
from mlagentbench.agents.conversation import Conversation, Pace, complaint
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import Parsed, ask_for_action
from mlagentbench.agents.protocols.protocol import ActionRequest
from mlagentbench.agents.protocols.replies import spoken
from mlagentbench.agents.research.research_settings import Settings, in_full
from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.text import truncate
from mlagentbench.core.trace import Fault, Step
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.prompts import fenced

TRIALS_BEFORE_GOING_BACK = 2
BAD_REPLIES_AT_MOST = 6
"""In a row; then what is best so far is submitted."""
STEPS_TO_CLOSE = 2
"""Going back to the best, and the final answer."""


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


@dataclass(frozen=True)
class ResearchStart:
    """Where the research begins."""

    conversation: Conversation
    baseline: Step


class Researcher:
    """A model with every action at hand, which executes when it wants to."""

    def __init__(
        self, context: Context, settings: Settings, begun: ResearchStart
    ) -> None:
        self._context = context
        self._settings = settings
        self._ledger = Ledger(context.task.metric, context.task.direction)
        self._mind = WorkState()
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

    async def hear(self) -> Parsed:
        """Ask for the next move; a conversation that is too long is made shorter."""
        heard = await self._ask()
        while heard.too_long and await self._conversation.make_fit(self._context):
            heard = await self._ask()
        return heard

    async def _ask(self) -> Parsed:
        settings, mind = self._settings, self._mind
        now = status_prompt(
            mind, self._ledger, settings.ideas, self._context.remaining()
        )
        # A malformed reply that is shown again is copied; a warmer one may differ.
        temperature = min(1.0, 0.4 + 0.2 * mind.bad_replies)
        return await ask_for_action(
            self._context,
            settings.language,
            settings.form,
            self._conversation.messages(now),
            GenerateConfig(temperature=temperature, max_tokens=settings.reply_tokens),
        )

    async def turn_down(self, heard: Parsed, why: str, fault: Fault) -> None:
        """Record a reply that is not acted on, and say once what was wrong with it."""
        self._mind.bad_replies += 1
        self._mind.remark = why
        await self._context.reject(spoken(heard.output), why, fault=fault)

    async def do(self, heard: Parsed, move: ActionRequest) -> None:
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

    def _pointless(self, move: ActionRequest) -> str | None:
        if ACTIONS[move.action].executes and not self._mind.changed:
            return (
                "Nothing was changed since the last execution; change something first."
            )
        return None

    async def _take(self, move: ActionRequest) -> str:
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


_LONGEST_FAILURE = 120


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


_CHANGES = {
    *("Write File", "Append File", "Copy File", "Undo Edit Script"),
    *("Edit Script (AI)", "Edit Script Segment (AI)", "Restore Workspace"),
}
_LONGEST_CHANGE = 120


@dataclass
class WorkState:
    """The state of the workspace, and of the model."""

    change: str = "the starter as it is"
    """What the next execution will try."""
    changed: bool = False
    """Whether anything was written since the last execution."""
    at_best: bool = True
    """Whether the workspace is as it was after the best trial."""
    works: bool = False
    """Whether what lies in the workspace could be measured; else it is to be mended."""
    ideas_used: int = 0
    bad_replies: int = 0
    remark: str = ""
    """What the model is told once, before its next move."""
    edits: list[dict[str, str]] = field(default_factory=list)
    """What a guided model has asked for so far."""

    def note(self, move: ActionRequest, step: Step) -> None:
        """Mind what a move that executes nothing has changed."""
        if step.ok and move.action in _CHANGES:
            self.changed, self.at_best = True, False
            self.change = _in_a_few_words(move)


def _in_a_few_words(move: ActionRequest) -> str:
    if move.action == "Restore Workspace":
        return f"as after step {move.given['step_number']}"
    told = move.given.get("edit_instruction") or move.said.get("Thought") or move.action
    return truncate(" ".join(told.split()), _LONGEST_CHANGE)


def status_prompt(
    mind: WorkState, ledger: Ledger, ideas: Sequence[str], left: Remaining
) -> str:
    """Tell what was tried, what is left of the budget, and what to turn to."""
    return prompt(
        "modern_standing",
        remark=mind.remark,
        next=_next(mind, ideas),
        ledger=ledger.table(),
        steps=str(left.steps),
        minutes=f"{left.seconds / 60:.0f}",
        tokens="" if left.tokens is None else f", {left.tokens} tokens",
    )


def _next(mind: WorkState, ideas: Sequence[str]) -> str:
    """Return what the model is told to turn to, if anything."""
    if not mind.works:
        return "The last trial has no score: mend its cause before anything else."
    if not ideas:
        return ""
    return f"An idea for the next trial: {ideas[mind.ideas_used % len(ideas)]}"


class GuidedResearcher(Researcher):
    """A model with one script, which every edit executes."""

    def _pointless(self, move: ActionRequest) -> str | None:
        if move.given in self._mind.edits:
            return "This very edit was tried before; try something else."
        return super()._pointless(move)

    async def _take(self, move: ActionRequest) -> str:
        script = self._context.task.script
        told = await super()._take(in_full(move, script))
        if not self._mind.changed:
            return told
        self._mind.edits.append(move.given)
        step = await self._context.act("Execute Script", script_name=script)
        self._executed(step)
        outcome = step.told if step.ok else f"It failed:\n{complaint(step.told)}"
        return f"{told}\n\n{outcome}"

    def _is_astray(self) -> bool:
        return self._mind.works or super()._is_astray()

    def _is_back_at(self, best: Trial, why: str) -> None:
        super()._is_back_at(best, why)
        self._conversation.forget_the_rest()


async def start_research(context: Context, settings: Settings) -> ResearchStart:
    """Measure the baseline; a guided model is shown the script too."""
    script, source = context.task.script, ""
    if settings.guided:
        read = await context.act("Read File", file_name=script)
        source = f"This is `{script}`:\n\n{fenced(read.observation)}\n"
    baseline = await context.act("Execute Script", script_name=script)
    system = prompt("modern", answering=settings.language.explanation(settings.form))
    opening = prompt(
        "modern_opening",
        problem=context.problem,
        source=source,
        script=script,
        baseline=baseline.told,
    )
    conversation = Conversation(system, opening, most_tokens=settings.context_tokens)
    return ResearchStart(conversation, baseline)
