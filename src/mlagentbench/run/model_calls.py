"""Model calls: ask a model, record the reply, price it."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import LimitExceededError
from pydantic import ValidationError

from mlagentbench.agents import ProtocolName
from mlagentbench.core import (
    Called,
    ModelCall,
    ModelReplyError,
    ProviderError,
    encodable,
    provider_info,
)
from mlagentbench.environment import Completion
from mlagentbench.evaluation import Price, call_cost
from mlagentbench.experiment import RecordedRun, TraceWriter, read_trace
from mlagentbench.run.budget import BudgetMeter, from_inspect_limit

logger = logging.getLogger(__name__)

_DELIVERY = {"max_retries", "timeout", "attempt_timeout", "max_connections"}
"""Settings of a request's transport, which are not part of its digest."""

_UNREADABLE_RETRIES = 2
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)
"""Exceptions of client libraries for a body that breaks the protocol."""
_INVALID_REPLY = (ValidationError, LookupError, UnicodeError)
"""Those for a JSON document whose content is not a reply, such as one without a choice.
The others come from a body that is not JSON, which no model writes, or from settings
of the client."""
_REPLY_ERRORS = (
    *("content_filter", "content_policy_violation"),
    *("tool_use_failed", "json_validate_failed", "ModelErrorException"),
)
"""Codes of providers that refuse or cannot parse what the model wrote."""

MAIN = "main"
"""The role of the agent's own model."""


@dataclass(frozen=True)
class ModelRequest:
    """A request to a model."""

    role: str
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolInfo]
    config: GenerateConfig

    @property
    def sha(self) -> str:
        """The digest of a request without its message ids, which are random."""
        document = {
            "messages": [
                message.model_dump(mode="json", exclude={"id"}, exclude_none=True)
                for message in self.messages
            ],
            "tools": [tool.model_dump(mode="json") for tool in self.tools],
            "config": self.config.model_dump(
                mode="json", exclude_none=True, exclude=_DELIVERY
            ),
        }
        text = json.dumps(document, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


class ModelCaller:
    """Calls the models of one run, or returns their recorded replies."""

    def __init__(
        self,
        run: str,
        past: RecordedRun,
        trace: TraceWriter,
        prices: Mapping[str, Price],
        budget: BudgetMeter,
    ) -> None:
        self._run = run
        self._past = past
        self._trace = trace
        self._prices = prices
        self._budget = budget
        self.calls: list[ModelCall] = []
        """Replies since the last step."""

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        role: str,
        tools: Sequence[ToolInfo],
        config: GenerateConfig,
    ) -> ModelOutput:
        return await self._ask(ModelRequest(role, messages, tools, config), "agent")

    async def ask_for_action(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        """Return a model's reply to an action under way."""
        messages = [ChatMessageUser(content=prompt)]
        reply = await self._ask(ModelRequest(role, messages, (), config), "action")
        limits = {"max_tokens", "model_length"}
        cut_off = bool(reply.choices) and reply.stop_reason in limits
        return Completion(reply.completion, cut_off=cut_off)

    def start_step(self) -> None:
        """Forget the calls of the last step, which is recorded."""
        self.calls.clear()

    async def _ask(
        self, request: ModelRequest, asked_by: Literal["agent", "action"]
    ) -> ModelOutput:
        call = self._past.call(request.role, request.sha)
        if call is None:
            model = get_model()
            if request.role != MAIN:
                model = get_model(role=request.role, default=model)
            logger.debug("%s: ask %s as %s", self._run, model, request.role)
            call = await call_model(model, request, self._prices)
            answers = self._budget.take_answers() if asked_by == "agent" else ()
            call = call.model_copy(
                update={"asked_by": asked_by, "seconds_left": answers}
            )
            self._trace.append(Called(run=self._run, call=call))
        self.calls.append(call)
        output = ModelOutput.model_validate(call.reply)
        self._budget.model_seconds += output.time or 0.0
        return output


ConnectionGate = Callable[[str], AbstractAsyncContextManager[None]]
"""Returns, for a model's name, a context that is entered once a connection is free."""

_gate: ConnectionGate = lambda _: nullcontext()  # noqa: E731  # it is replaced


def set_connection_gate(gate: ConnectionGate) -> None:
    """Have every model call of this process wait for a connection.

    A call keeps its connection while Inspect repeats a request that failed.
    """
    global _gate  # a process has one gate
    _gate = gate


async def call_model(
    model: Model, request: ModelRequest, prices: Mapping[str, Price] | None = None
) -> ModelCall:
    """Ask a model; every failure on the way counts as its provider's."""
    async with _gate(str(model)):
        return await _call_model(model, request, prices)


async def _call_model(
    model: Model, request: ModelRequest, prices: Mapping[str, Price] | None
) -> ModelCall:
    # Waiting for a connection is not the model's time.
    clock = time.monotonic()
    try:
        output = await _generated(model, request)
    except LimitExceededError as limit:
        raise from_inspect_limit(limit) from limit
    except Exception as error:
        text = f"{model}: {type(error).__name__}: {error}"
        fault = ModelReplyError if _is_reply_error(error) else ProviderError
        raise fault(text) from error
    # A provider's own figure excludes its queues and Inspect's retries.
    output.time = output.time or time.monotonic() - clock
    call = ModelCall(
        role=request.role,
        model=str(model),
        request_sha=request.sha,
        reply=reply_as_json(output),
        usage=_usage(output.usage),
        cost=output.usage.total_cost if output.usage else None,
    )
    return call.model_copy(update={"cost": call_cost(call, prices or {})})


def _is_reply_error(error: Exception) -> bool:
    """Return whether the model's own reply caused an error, and not an outage."""
    text = f"{type(error).__name__}: {error}"
    return isinstance(error, _INVALID_REPLY) or any(
        one in text for one in _REPLY_ERRORS
    )


async def _generated(model: Model, request: ModelRequest) -> ModelOutput:
    """Return the reply; repeat the request if the reply cannot be parsed.

    Inspect repeats requests that fail, but not one whose reply is invalid JSON.
    """
    messages, tools = list(request.messages), list(request.tools)
    for _ in range(_UNREADABLE_RETRIES):
        try:
            return await model.generate(messages, tools, config=request.config)
        except _UNREADABLE as error:
            logger.warning("%s: unreadable reply, asking again: %s", model, error)
    return await model.generate(messages, tools, config=request.config)


def _usage(usage: ModelUsage | None) -> dict[str, int]:
    """Count tokens by kind; reasoning is also part of the output."""
    if usage is None:
        return {}
    always = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.input_tokens_cache_read or 0,
    }
    sometimes = {
        "cached_write": usage.input_tokens_cache_write,
        "reasoning": usage.reasoning_tokens,
    }
    return always | {kind: count for kind, count in sometimes.items() if count}


_DEEPEST = 50


def reply_as_json(output: ModelOutput) -> dict[str, Any]:
    """Return a model's reply as JSON that can be written, whatever it contains."""
    for choice in output.choices:
        for call in choice.message.tool_calls or []:
            if not _depth_within(call.arguments, _DEEPEST):
                call.arguments = {}
                call.parse_error = "the arguments are nested too deeply"
    reply: dict[str, Any] = output.model_dump(mode="json", exclude_none=True)
    return encodable(reply)


def _depth_within(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_depth_within(one, depth - 1) for one in inner)


def preferred_protocol(model: str) -> ProtocolName:
    """Return the reply protocol that a model's provider is best at.

    A replayed run keeps the protocol of the model that was recorded.
    """
    provider, _, name = model.partition("/")
    if provider == "replay" and Path(name).is_file():
        trace = read_trace(Path(name), name)
        calls = [*(call for step in trace.steps for call in step.calls), *trace.calls]
        return preferred_protocol(calls[0].model) if calls else "tools"
    return provider_info(model).protocol
