"""The loop of the paper's agents: ask, act, remember, summarize."""

import json
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput

from mlagentbench.agents.context import Context
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import Parsed, ask_for_action
from mlagentbench.agents.protocols.json_schema import SchemaProtocol, field_key
from mlagentbench.agents.protocols.reply_protocol import (
    ActionRequest,
    Malformed,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
    tool_calls,
)
from mlagentbench.agents.protocols.text_fields import (
    ACTION,
    ACTION_INPUT,
    TextProtocol,
    split_sections,
)
from mlagentbench.agents.protocols.tool_calls import ToolProtocol
from mlagentbench.agents.settings import PLAN, PaperSettings
from mlagentbench.core import sendable, shortened, split
from mlagentbench.environment import ACTIONS, fenced

TRIES = 5
LONGEST_OBSERVATION = 5_000
"""In characters; a longer one is summarized."""
DONE = "<Done>"
"""Replaces an observation that is no longer shown."""
PARSING_ERROR = "ActionInputParsingError"

_CONFIG = GenerateConfig(temperature=0.5, max_tokens=2_000)
_HELPER_CONFIG = GenerateConfig(temperature=0.01, max_tokens=2_000)
_UPDATE_MARK = "**"


@dataclass(frozen=True)
class AgentStyle:
    """The prompt, format and habits of one of the paper's agents."""

    opening: str
    """The name of its first prompt."""
    format: ReplyFormat
    protocol: ReplyProtocol
    settings: PaperSettings
    reminds: bool = False
    """Whether a reply that is not in format is answered with a reminder."""
    forgives_input: bool = False
    """Whether an unreadable Action Input costs no step and is soon forgotten."""
    summarizes: bool = False
    """Whether long observations are summarized."""
    log: bool = False
    """Whether it keeps a research log and retrieves from it."""


class PaperAgent:
    """One of the paper's agents at work."""

    def __init__(self, context: Context, style: AgentStyle) -> None:
        self._context = context
        self._style = style
        self._memory = Memory(_opening(context, style), style)

    async def work(self) -> None:
        """Ask and act until the final answer, or until the agent gives up."""
        while len(self._memory.steps) < self._style.settings.max_agent_steps:
            parsed = await self._ask_in_format()
            if parsed is None:
                return
            match parsed.result:
                case Malformed() as malformed:
                    await self._reject_input(parsed.output, malformed)
                case request:
                    await self._take(parsed.output, request)
                    if ACTIONS[request.action].ends_run:
                        return

    async def _ask_in_format(self) -> Parsed | None:
        """Return a reply that names an action, or None if no try gave one."""
        context, style = self._context, self._style
        reminders: list[ChatMessage] = []
        fewer = 0
        for attempt in range(1, TRIES + 1):
            messages = [*self._memory.messages(fewer), *reminders]
            parsed = await ask_for_action(
                context, style.protocol, style.format, messages, _CONFIG
            )
            if _is_in_format(parsed, style):
                return parsed
            if parsed.too_long:
                fewer += 1
            elif style.reminds:
                # The bad reply itself is not shown: a model would copy it.
                parts = ", ".join([*style.format.fields, ACTION, ACTION_INPUT])
                reminder = prompt("classic_reminder", parts=parts)
                reminders.append(ChatMessageUser(content=reminder))
            if attempt == TRIES:
                reason = "Fields are missing."
                if isinstance(parsed.result, Malformed):
                    reason = parsed.result.why
                why = f"No reply was in format in {TRIES} tries. {reason}"
                await context.reject(reply_text(parsed.output), why, counts=False)
        return None

    async def _reject_input(self, output: ModelOutput, malformed: Malformed) -> None:
        """Show the model that the input of its action could not be read."""
        request, forgives = malformed.request, self._style.forgives_input
        why = f"{PARSING_ERROR}: {malformed.why}" if forgives else malformed.why
        if request and (usage := ACTIONS[request.action].usage) not in why:
            why = f"{why} {usage}."
        step = await self._context.reject(reply_text(output), why, counts=not forgives)
        plan = request.fields.get(PLAN, "") if request else ""
        self._memory.add(Remembered(output, step.observation, plan, unread=forgives))

    async def _take(self, output: ModelOutput, request: ActionRequest) -> None:
        """Take an action and remember it, in the research log too if there is one."""
        context, style = self._context, self._style
        request = _without_marks(request, style.format.fields)
        step = await context.act(request.action, said=request.fields, **request.input)
        if ACTIONS[request.action].ends_run:
            return
        # Not the measured validation: the paper's agents saw only the output.
        observation = step.observation
        if style.summarizes:
            observation = await _summarized(context, _as_text(request), observation)
        reply = _rewritten(output, request, style.protocol)
        plan = request.fields.get(PLAN, "")
        self._memory.add(Remembered(reply, observation, plan))
        if style.log:
            await self._log(_as_text(request), observation)

    async def _log(self, action: str, observation: str) -> None:
        question = prompt(
            "classic_entry", action=fenced(action), observation=fenced(observation)
        )
        entry = await _ask_helper(self._context, question)
        number = len(self._memory.steps)
        content = f"Step {number}:\n{entry or 'There is no summary.'}"
        await self._context.act("Append Summary to Research Log", content=content)
        if number > self._style.settings.steps_in_context:
            step = await self._context.act(
                "Retrieval from Research Log", current_plan=self._memory.plan
            )
            self._memory.recalled = step.observation


@dataclass(frozen=True)
class Remembered:
    """One agent step."""

    reply: ModelOutput
    observation: str
    plan: str = ""
    unread: bool = False
    """Whether its Action Input could not be read, so that nothing was done."""


class Memory:
    """The agent steps so far; the prompt shows the last of them."""

    def __init__(self, opening: str, style: AgentStyle) -> None:
        self._opening = opening
        self._settings = style.settings
        self._protocol = style.protocol
        self.steps: list[Remembered] = []
        self.plan = ""
        """The latest plan."""
        self.recalled = ""
        """What the research log says about earlier steps."""

    def add(self, step: Remembered) -> None:
        """Remember a step; a readable one removes the unreadable ones before it."""
        if not step.unread:
            self.steps = [old for old in self.steps if not old.unread]
        self.steps.append(step)
        self.plan = step.plan or self.plan

    def messages(self, fewer: int) -> list[ChatMessage]:
        """Return the messages of a request, with `fewer` steps than usual."""
        shown = self.steps[-self._settings.steps_in_context :][fewer:]
        parts = [self._opening]
        if self.plan and not any(step.plan for step in shown):
            parts.append(prompt("classic_plan", plan=fenced(self.plan)))
        if self.recalled:
            parts.append(prompt("classic_recalled", log=fenced(self.recalled)))
        messages: list[ChatMessage] = [ChatMessageUser(content="\n\n".join(parts))]
        oldest = len(shown) - self._settings.observations_in_context
        for number, step in enumerate(shown):
            observation = step.observation if number >= oldest else DONE
            messages += self._protocol.exchange(step.reply, observation)
        return messages


def _opening(context: Context, style: AgentStyle) -> str:
    """Return the first prompt, with the meaning of each field of a reply."""
    lines = prompt("classic_fields").splitlines()
    meanings = [
        line
        for field in style.format.fields
        for line in lines
        if line.startswith(f"- {field}:")
    ]
    if meanings:
        meanings = ["\nWhat belongs into the parts:\n", *meanings, ""]
    return prompt(
        style.opening,
        explanation=style.protocol.explanation(style.format),
        fields="\n".join(meanings),
        problem=context.problem,
    )


def _is_in_format(parsed: Parsed, style: AgentStyle) -> bool:
    """Return whether a reply names an action and has all fields, even empty ones."""
    result = parsed.result
    request = result.request if isinstance(result, Malformed) else result
    if request is None:
        return False
    if isinstance(style.protocol, ToolProtocol):
        # Models that call tools often write nothing beside the call.
        return True
    sections = split_sections(reply_text(parsed.output), style.format)
    headers = {name for name, _ in sections}
    return set(style.format.fields) <= headers | set(request.fields)


async def _summarized(context: Context, action: str, observation: str) -> str:
    """Return an observation, summarized if it is too long."""
    if len(observation) <= LONGEST_OBSERVATION:
        return observation
    action = fenced(action)
    summaries = []
    for block in split(observation):
        last, length = block.last_character, len(observation)
        place = f"characters {block.first_character} to {last} of {length}"
        text = fenced(block.text)
        question = prompt("classic_observation", action=action, place=place, block=text)
        summaries.append(await _ask_helper(context, question))
    summary = summaries[0]
    if len(summaries) > 1:
        parts = "\n\n".join(map(fenced, summaries))
        merge = prompt("classic_observation_merge", action=action, parts=parts)
        summary = await _ask_helper(context, merge)
    return summary or shortened(observation, LONGEST_OBSERVATION)


async def _ask_helper(context: Context, question: str) -> str:
    messages = [ChatMessageUser(content=sendable(question))]
    return reply_text(await context.ask(messages, role="helper", config=_HELPER_CONFIG))


def _without_marks(request: ActionRequest, order: tuple[str, ...]) -> ActionRequest:
    """Return a request with its fields in order and no update marks in its plan."""
    names = [name for name in order if name in request.fields]
    fields = {name: request.fields[name] for name in [*names, *request.fields]}
    if PLAN in fields:
        fields[PLAN] = fields[PLAN].replace(_UPDATE_MARK, "")
    return request.model_copy(update={"fields": fields})


def _rewritten(
    output: ModelOutput, request: ActionRequest, protocol: ReplyProtocol
) -> ModelOutput:
    """Return the reply with only the request in its text."""
    fields = _field_lines(request)
    match protocol:
        case TextProtocol():
            text = _as_text(request)
        case SchemaProtocol():
            keys = {field_key(name): value for name, value in request.fields.items()}
            text = _json({**keys, "action": request.action, "input": request.input})
        case _ if tool_calls(output):
            text = "\n".join(fields)
        case _:
            call = {"name": request.action, "arguments": request.input}
            text = "\n".join([*fields, _json(call)])
    rewritten = output.model_copy(deep=True)
    if text:
        rewritten.message.text = text
    return rewritten


def _as_text(request: ActionRequest) -> str:
    action = [f"Action: {request.action}", f"Action Input: {_json(request.input)}"]
    return "\n".join([*_field_lines(request), *action])


def _field_lines(request: ActionRequest) -> list[str]:
    return [f"{name}: {text}" for name, text in request.fields.items()]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
