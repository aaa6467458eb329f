"""Their loop: ask, act, remember, sum up; what tells them apart."""

import json
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput

from mlagentbench.agents.context import Context
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import Parsed, ask_for_action, language_for
from mlagentbench.agents.protocols.protocol import (
    ActionRequest,
    Malformed,
    ReplyFormat,
    ReplyProtocol,
)
from mlagentbench.agents.protocols.replies import spoken, tool_calls
from mlagentbench.agents.protocols.text_fields import ACTION, ACTION_INPUT, sections
from mlagentbench.agents.settings import PLAN, read_choice, read_count
from mlagentbench.core.text import Block, sendable, shortened, split
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.prompts import fenced

TRIES = 5

_CONFIG = GenerateConfig(temperature=0.5, max_tokens=2_000)


@dataclass(frozen=True)
class Remembered:
    """One step of the agent's own."""

    reply: ModelOutput
    observation: str
    plan: str = ""
    unread: bool = False
    """Whether its Action Input could not be read, so that nothing was done."""


@dataclass(frozen=True)
class Habits:
    """What is the same for all of the paper's agents, and read from settings."""

    protocol: str
    """`text`, `tools` or `schema`."""
    language: ReplyProtocol
    most_steps: int
    """Of the agent's own, whatever the budget would allow."""
    steps: int
    """How many of the last steps the model is shown."""
    observations: int
    """How many of the last observations; older ones are only said to be done."""


class Memory:
    """The steps so far; a model is shown the last of them."""

    def __init__(self, opening: str, habits: Habits) -> None:
        self._opening = opening
        self._habits = habits
        self.steps: list[Remembered] = []
        self.plan = ""
        """The latest there is."""
        self.recalled = ""
        """What the research log says about earlier steps."""

    @property
    def reaches_back_further(self) -> bool:
        """Whether there are steps that a model is no longer shown."""
        return len(self.steps) > self._habits.steps

    def add(self, step: Remembered) -> None:
        """Remember a step; once one was good, those that could not be read go."""
        if not step.unread:
            self.steps = [old for old in self.steps if not old.unread]
        self.steps.append(step)
        self.plan = step.plan or self.plan

    def messages(self, fewer: int = 0) -> list[ChatMessage]:
        """Return what a model is shown; `fewer` steps than usual where it must be."""
        shown = self.steps[-self._habits.steps :][fewer:]
        messages: list[ChatMessage] = [ChatMessageUser(content=self._beginning(shown))]
        for age, step in zip(range(len(shown), 0, -1), shown, strict=True):
            told = step.observation if age <= self._habits.observations else DONE
            messages += self._habits.language.exchange(step.reply, told)
        return messages

    def _beginning(self, shown: list[Remembered]) -> str:
        parts = [self._opening]
        if self.plan and not any(step.plan for step in shown):
            parts.append(prompt("classic_plan", plan=fenced(self.plan)))
        if self.recalled:
            parts.append(prompt("classic_recalled", log=fenced(self.recalled)))
        return "\n\n".join(parts)


@dataclass(frozen=True)
class AgentStyle:
    """How one of them goes about its work."""

    opening: str
    """The name of the prompt it begins with."""
    form: ReplyFormat
    habits: Habits
    reminds: bool = False
    """Whether a reply that is not in format is answered with a reminder."""
    answers_itself: bool = False
    """Whether an unreadable Action Input costs no step, and is soon forgotten."""
    sums_up: bool = False
    """Whether long observations are summed up."""
    log: bool = False
    """Whether it keeps a research log and looks things up in it."""


async def hear_in_format(
    context: Context, manner: AgentStyle, memory: Memory
) -> Parsed | None:
    """Return a reply that names an action, or None where no try brought one."""
    habits, form = manner.habits, manner.form
    reminders: list[ChatMessage] = []
    fewer = 0
    for attempt in range(1, TRIES + 1):
        messages = [*memory.messages(fewer), *reminders]
        heard = await ask_for_action(context, habits.language, form, messages, _CONFIG)
        if is_in_format(heard, manner):
            return heard
        if heard.too_long:
            fewer += 1
        elif manner.reminds:
            # The bad reply itself is not shown: a model would copy it.
            reminders.append(_reminder(manner))
        if attempt == TRIES:
            await context.reject(spoken(heard.output), _gave_up(heard), counts=False)
    return None


def is_in_format(heard: Parsed, manner: AgentStyle) -> bool:
    """Tell whether a reply names an action and has all fields, empty ones included."""
    move = named(heard)
    if move is None:
        return False
    if manner.habits.protocol == "tools":
        # Models that call tools often say nothing beside the call.
        return True
    headers = {name for name, _ in sections(spoken(heard.output), manner.form)}
    return set(manner.form.fields) <= headers | set(move.said)


def named(heard: Parsed) -> ActionRequest | None:
    """Return the action that a reply names, though its input may be unreadable."""
    match heard.understood:
        case Malformed(move=move):
            return move
        case move:
            return move


def _reminder(manner: AgentStyle) -> ChatMessage:
    parts = ", ".join([*manner.form.fields, ACTION, ACTION_INPUT])
    return ChatMessageUser(content=prompt("classic_reminder", parts=parts))


def _gave_up(heard: Parsed) -> str:
    match heard.understood:
        case Malformed(why=why):
            reason = why
        case _:
            reason = "Fields are missing."
    return f"No reply was in format in {TRIES} tries. {reason}"


LONGEST_OBSERVATION = 5_000
"""In characters; what is longer is summed up."""

_HELPER_CONFIG = GenerateConfig(temperature=0.01, max_tokens=2_000)


async def short_enough(context: Context, action: str, observation: str) -> str:
    """Return an observation, summed up where it is too long."""
    if len(observation) <= LONGEST_OBSERVATION:
        return observation
    blocks = split(observation)
    about = fenced(action)
    summaries = [
        await _asked(context, _about_block(block, len(observation), about))
        for block in blocks
    ]
    summary = summaries[0]
    if len(summaries) > 1:
        parts = "\n\n".join(map(fenced, summaries))
        merge = prompt("classic_observation_merge", action=about, parts=parts)
        summary = await _asked(context, sendable(merge))
    return summary or shortened(observation, LONGEST_OBSERVATION)


async def log_entry(context: Context, action: str, observation: str) -> str:
    """Return what the research log should say about a step."""
    question = prompt(
        "classic_entry", action=fenced(action), observation=fenced(observation)
    )
    return await _asked(context, sendable(question)) or "There is no summary."


def _about_block(block: Block, length: int, about: str) -> str:
    place = f"characters {block.first_character} to {block.last_character} of {length}"
    return sendable(
        prompt(
            "classic_observation", action=about, place=place, block=fenced(block.text)
        )
    )


async def _asked(context: Context, question: str) -> str:
    messages = [ChatMessageUser(content=question)]
    return spoken(await context.ask(messages, role="helper", config=_HELPER_CONFIG))


PARSING_ERROR = "ActionInputParsingError"


async def work(context: Context, manner: AgentStyle) -> None:
    """Work on the task in one agent's manner, to the end or until it gives up."""
    memory = Memory(opening(context, manner), manner.habits)
    while len(memory.steps) < manner.habits.most_steps:
        heard = await hear_in_format(context, manner, memory)
        if heard is None:
            return
        match heard.understood:
            case Malformed() as malformed:
                await _answer(context, manner, memory, heard, malformed)
            case move:
                await _take(context, manner, memory, heard, move)
                if ACTIONS[move.action].ends_run:
                    return


async def _answer(
    context: Context,
    manner: AgentStyle,
    memory: Memory,
    heard: Parsed,
    malformed: Malformed,
) -> None:
    """Tell the model that the input of its action could not be read."""
    why = malformed.why
    if manner.answers_itself:
        why = f"{PARSING_ERROR}: {why}"
    if malformed.move and (usage := ACTIONS[malformed.move.action].usage) not in why:
        why = f"{why} {usage}."
    counts = not manner.answers_itself
    step = await context.reject(spoken(heard.output), why, counts=counts)
    plan = malformed.move.said.get(PLAN, "") if malformed.move else ""
    memory.add(
        Remembered(heard.output, step.observation, plan, unread=manner.answers_itself)
    )


async def _take(
    context: Context,
    manner: AgentStyle,
    memory: Memory,
    heard: Parsed,
    said: ActionRequest,
) -> None:
    """Take an action and remember it, in the research log too where there is one."""
    move = without_marks(said, manner.form.fields)
    step = await context.act(move.action, said=move.said, **move.given)
    if ACTIONS[move.action].ends_run:
        return
    # Not what we measured ourselves: the paper's agents saw only what was printed.
    observation = step.observation
    if manner.sums_up:
        observation = await short_enough(context, written(move), observation)
    reply = retold(heard.output, move, manner.habits.protocol)
    memory.add(Remembered(reply, observation, move.said.get(PLAN, "")))
    if manner.log:
        await _log(context, memory, written(move), observation)


async def _log(context: Context, memory: Memory, did: str, saw: str) -> None:
    entry = await log_entry(context, did, saw)
    content = f"Step {len(memory.steps)}:\n{entry}"
    await context.act("Append Summary to Research Log", content=content)
    if memory.reaches_back_further:
        step = await context.act(
            "Retrieval from Research Log", current_plan=memory.plan
        )
        memory.recalled = step.observation


DONE = "<Done>"
"""Stands for an observation that is no longer shown."""

_UPDATE = "**"


def without_marks(move: ActionRequest, fields: tuple[str, ...]) -> ActionRequest:
    """Return a move with its fields in order and no mark of what is new in the plan."""
    order = [name for name in fields if name in move.said]
    said = {name: move.said[name] for name in [*order, *move.said]}
    if PLAN in said:
        said[PLAN] = said[PLAN].replace(_UPDATE, "")
    return move.model_copy(update={"said": said})


def written(move: ActionRequest) -> str:
    """Write a move as fields of text."""
    action = [f"Action: {move.action}", f"Action Input: {_json(move.given)}"]
    return "\n".join([*_fields(move), *action])


def retold(output: ModelOutput, move: ActionRequest, protocol: str) -> ModelOutput:
    """Return the reply as if the model had said just the move, in its own language."""
    again = output.model_copy(deep=True)
    if text := _said(output, move, protocol):
        again.message.text = text
    return again


def _said(output: ModelOutput, move: ActionRequest, protocol: str) -> str:
    if protocol == "text":
        return written(move)
    if protocol == "schema":
        fields = {name.lower().replace(" ", "_"): t for name, t in move.said.items()}
        return _json({**fields, "action": move.action, "input": move.given})
    if tool_calls(output):
        return "\n".join(_fields(move))
    call = {"name": move.action, "arguments": move.given}
    return "\n".join([*_fields(move), _json(call)])


def _fields(move: ActionRequest) -> list[str]:
    return [f"{name}: {text}" for name, text in move.said.items()]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def opening(context: Context, manner: AgentStyle) -> str:
    """Return what the model is told before anything has happened."""
    return prompt(
        manner.opening,
        explanation=manner.habits.language.explanation(manner.form),
        fields=_meaning(manner.form.fields),
        problem=context.problem,
    )


def _meaning(fields: tuple[str, ...]) -> str:
    lines = prompt("classic_fields").splitlines()
    chosen = [
        line for field in fields for line in lines if line.startswith(f"- {field}:")
    ]
    return "\n".join(
        ["\nWhat belongs into the parts:\n", *chosen, ""] if chosen else [""]
    )


SHARED = ("protocol", "max_agent_steps", "steps_in_context", "observations_in_context")
"""Settings that all of the paper's agents have."""

_PROTOCOLS = ("text", "tools", "schema", "auto")
_AGENT_STEPS = 50
_IN_CONTEXT = 3


def read_habits(context: Context, protocol: str) -> Habits:
    """Read the settings that all of the paper's agents have."""
    settings = context.settings
    chosen = read_choice(settings, "protocol", _PROTOCOLS, protocol)
    spoken = context.speech if chosen == "auto" else chosen
    return Habits(
        protocol=spoken,
        language=language_for(spoken, context.speech),
        most_steps=read_count(settings, "max_agent_steps", _AGENT_STEPS),
        steps=read_count(settings, "steps_in_context", _IN_CONTEXT),
        observations=read_count(settings, "observations_in_context", _IN_CONTEXT),
    )
