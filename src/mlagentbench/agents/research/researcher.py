"""The researcher: a model at work, the ledger of its trials, its status prompt."""

from dataclasses import dataclass, field

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation, Pace, short_traceback
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import Parsed, ask_for_action
from mlagentbench.agents.protocols.reply_protocol import (
    ActionRequest,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
)
from mlagentbench.agents.settings import ModernSettings
from mlagentbench.core import Direction, Fault, Record, Step, truncate
from mlagentbench.environment import ACTIONS

EDIT = "Edit Script (AI)"
TRIALS_BEFORE_RESTORE = 2
MAX_BAD_REPLIES = 6
"""In a row; then the best trial is submitted."""
STEPS_TO_CLOSE = 2
"""Restoring the best trial, and the final answer."""
_REPLY_TOKENS = 3_000


class Trial(Record):
    """One execution, and the validation score that the harness measured after it."""

    step: int
    change: str
    """The change since the last execution, in a few words."""
    value: float | None
    """None if there is no score."""
    kept: bool
    """Whether it was the best when it was executed."""
    failure: str = ""
    """Why there is no score, in one line."""


@dataclass(frozen=True)
class ResearchSetup:
    """The settings of a run, resolved for its model and task."""

    settings: ModernSettings
    protocol: ReplyProtocol
    format: ReplyFormat
    ideas: tuple[str, ...]
    """Shown one after the other, one for each trial; may be empty."""


class Researcher:
    """A model with every action, which decides when to execute."""

    def __init__(
        self,
        context: Context,
        setup: ResearchSetup,
        conversation: Conversation,
        baseline: Step,
    ) -> None:
        self._context = context
        self._setup = setup
        self._ledger = Ledger(context.task.metric, context.task.direction)
        self._state = WorkState()
        self._conversation = conversation
        self._note_execution(baseline)

    def reason_to_stop(self, pace: Pace) -> str | None:
        """Return why the run must end now; None if it may continue."""
        enough_time = pace.another_fits()
        if not enough_time or self._context.remaining().steps <= STEPS_TO_CLOSE:
            return "The budget is nearly spent"
        if self._state.bad_replies >= MAX_BAD_REPLIES:
            return f"{MAX_BAD_REPLIES} replies in a row were no moves"
        patience = self._setup.settings.patience
        if self._ledger.fruitless >= patience:
            return f"{patience} trials in a row were no better"
        return None

    async def ask(self) -> Parsed:
        """Ask for the next action; shorten a conversation that exceeds the context."""
        parsed = await self._ask()
        while parsed.too_long and await self._conversation.make_fit(self._context):
            parsed = await self._ask()
        return parsed

    async def _ask(self) -> Parsed:
        setup, state = self._setup, self._state
        left, ideas, next_trial = self._context.remaining(), setup.ideas, ""
        if not state.works:
            next_trial = (
                "The last trial has no score: mend its cause before anything else."
            )
        elif ideas:
            idea = ideas[state.ideas_used % len(ideas)]
            next_trial = f"An idea for the next trial: {idea}"
        now = prompt(
            "modern_status",
            remark=state.remark,
            next=next_trial,
            ledger=self._ledger.table(),
            steps=str(left.steps),
            minutes=f"{left.seconds / 60:.0f}",
            tokens="" if left.tokens is None else f", {left.tokens} tokens",
        )
        # A model copies a malformed reply that it is shown; at a higher temperature
        # the next one may differ.
        temperature = min(1.0, 0.4 + 0.2 * state.bad_replies)
        return await ask_for_action(
            self._context,
            setup.protocol,
            setup.format,
            self._conversation.messages(now),
            GenerateConfig(temperature=temperature, max_tokens=_REPLY_TOKENS),
        )

    async def record_rejection(self, parsed: Parsed, why: str, fault: Fault) -> None:
        """Record a reply that is not acted on; the next prompt shows the reason."""
        self._state.bad_replies += 1
        self._state.remark = why
        await self._context.reject(reply_text(parsed.output), why, fault=fault)

    async def take(self, parsed: Parsed, request: ActionRequest) -> None:
        """Take a requested action, unless it is pointless, and note the outcome."""
        if why := self._reason_to_refuse(request):
            await self.record_rejection(parsed, why, "pointless")
            return
        self._state.bad_replies, self._state.remark = 0, ""
        observation = await self._act(request)
        exchange = self._setup.protocol.exchange(parsed.output, observation)
        self._conversation.add(exchange)
        await self._conversation.summarize_if_long(self._context, parsed.output)
        if self._state.at_best:
            self._conversation.set_checkpoint()
        elif self._should_restore():
            await self._restore_best("the last trials were no better than the best")

    def _reason_to_refuse(self, request: ActionRequest) -> str | None:
        if ACTIONS[request.action].executes and not self._state.changed:
            return (
                "Nothing was changed since the last execution; change something first."
            )
        return None

    async def _act(self, request: ActionRequest) -> str:
        """Take an action and return the observation for the model."""
        step = await self._context.act(
            request.action, said=request.fields, **request.input
        )
        if ACTIONS[request.action].executes:
            self._note_execution(step)
        else:
            self._state.note(request, step)
        return step.told

    def _note_execution(self, step: Step) -> None:
        state, trial = self._state, self._ledger.note(step, self._state.change)
        state.ideas_used += state.works
        state.works = trial.value is not None
        state.changed, state.at_best = False, trial.kept

    def _should_restore(self) -> bool:
        return self._ledger.since_best >= TRIALS_BEFORE_RESTORE

    async def submit(self, answer: str, said: dict[str, str] | None = None) -> None:
        """Restore the best trial and give the final answer."""
        await self._restore_best("it is submitted")
        await self._context.act("Final Answer", said=said, final_answer=answer)

    async def _restore_best(self, why: str) -> bool:
        """Return whether the workspace was restored to the best trial."""
        best = self._ledger.best
        if best is None or self._state.at_best:
            return False
        await self._context.act("Restore Workspace", step_number=str(best.step))
        self._ledger.since_best = 0
        self._state.at_best = self._state.works = True
        self._state.changed = False
        self._state.remark = (
            f"The workspace was put back to what it was after step {best.step}: {why}."
        )
        return True


class GuidedResearcher(Researcher):
    """A model with one script, which every edit executes.

    No edit is made twice. A trial without improvement is undone, and only its line in
    the ledger remains in the prompt.
    """

    def _reason_to_refuse(self, request: ActionRequest) -> str | None:
        if request.input in self._state.edits:
            return "This very edit was tried before; try something else."
        return super()._reason_to_refuse(request)

    async def _act(self, request: ActionRequest) -> str:
        script = self._context.task.script
        full = request
        if request.action == EDIT:
            names = {"script_name": script, "save_name": script}
            full = request.model_copy(update={"input": request.input | names})
        observation = await super()._act(full)
        if not self._state.changed:
            return observation
        self._state.edits.append(request.input)
        step = await self._context.act("Execute Script", script_name=script)
        self._note_execution(step)
        outcome = step.told if step.ok else f"It failed:\n{short_traceback(step.told)}"
        return f"{observation}\n\n{outcome}"

    def _should_restore(self) -> bool:
        return self._state.works or super()._should_restore()

    async def _restore_best(self, why: str) -> bool:
        restored = await super()._restore_best(why)
        if restored:
            self._conversation.return_to_checkpoint()
        return restored


_MAX_FAILURE = 120


class Ledger:
    """Every trial in order, and the best one."""

    def __init__(self, metric: str, direction: Direction) -> None:
        self._metric = metric
        self._sign = direction.sign
        self.trials: list[Trial] = []
        self.best: Trial | None = None
        self.since_best = 0
        """Trials since the best one or since it was restored, none of them better."""

    def note(self, step: Step, change: str) -> Trial:
        """Add the trial of an execution."""
        value, kept, failure = None, False, ""
        if step.validation is None:
            lines = short_traceback(step.told).splitlines() or ["nothing was said"]
            failure = lines[-1].strip()[:_MAX_FAILURE]
        else:
            value = step.validation.value
            before = self.best.value if self.best else None
            kept = before is None or self._sign * value > self._sign * before
        trial = Trial(
            step=step.step, change=change, value=value, kept=kept, failure=failure
        )
        self.trials.append(trial)
        self.since_best += 1
        if trial.kept:
            self.best, self.since_best = trial, 0
        return trial

    @property
    def fruitless(self) -> int:
        """The number of trials after the best one, whether or not it was restored."""
        until_best = 0 if self.best is None else self.trials.index(self.best) + 1
        return len(self.trials) - until_best

    def table(self, last: int = 8) -> str:
        """Return the last trials and the best one as lines for the prompt."""
        shown = self.trials[-last:]
        if self.best is not None and self.best not in shown:
            shown = [self.best, *shown[1:]]
        return "\n".join(map(self._line, shown)) or "nothing was tried yet"

    def _line(self, trial: Trial) -> str:
        if trial.value is None:
            return f"- step {trial.step}: no score ({trial.failure}): {trial.change}"
        mark = "best" if trial == self.best else "kept" if trial.kept else "no better"
        measured = f"{self._metric} {trial.value:.6g}"
        return f"- step {trial.step}: {measured} ({mark}): {trial.change}"


_MAX_CHANGE = 120


@dataclass
class WorkState:
    """The state of the workspace and of the conversation."""

    change: str = "the starter as it is"
    """The change that the next execution tries."""
    changed: bool = False
    """Whether a file was written since the last execution."""
    at_best: bool = True
    """Whether the workspace is as it was after the best trial."""
    works: bool = False
    """Whether the last execution had a score; if not, it must be fixed first."""
    ideas_used: int = 0
    bad_replies: int = 0
    remark: str = ""
    """Shown in the next prompt."""
    edits: list[dict[str, str]] = field(default_factory=list)
    """The inputs of a guided model's edits so far."""

    def note(self, request: ActionRequest, step: Step) -> None:
        """Note the change of an action that executes nothing."""
        if step.ok and ACTIONS[request.action].changes_workspace:
            self.changed, self.at_best = True, False
            if ACTIONS[request.action].restores:
                self.change = f"as after step {request.input['step_number']}"
                return
            instruction = request.input.get("edit_instruction")
            words = instruction or request.fields.get("Thought") or request.action
            self.change = truncate(" ".join(words.split()), _MAX_CHANGE)
