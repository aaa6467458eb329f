"""Asking a language model: replies are recorded as they come, and replayed."""

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import LimitExceededError

from mlagentbench.core.errors import ProviderError
from mlagentbench.core.trace import Called, ModelCall
from mlagentbench.run.replay import Past
from mlagentbench.run.tracefile import TraceWriter

MAIN = "main"
"""The role of the model an agent thinks with."""


class Asker:
    """One run's way to its models."""

    def __init__(self, run: str, past: Past, trace: TraceWriter) -> None:
        self._run = run
        self._past = past
        self._trace = trace
        self.seconds = 0.0
        """Model work since the last step."""
        self.calls: list[ModelCall] = []
        """Replies since the last step."""

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        role: str,
        tools: Sequence[ToolInfo],
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return a model's reply, from the record where it was given before."""
        sha = request_sha(messages, tools, config)
        call = self._past.call(role, sha)
        if call is None:
            call = await self._live(messages, role, tools, config, sha)
            self._trace.append(Called(run=self._run, call=call))
        self.calls.append(call)
        return ModelOutput.model_validate(call.reply)

    async def _live(
        self,
        messages: Sequence[ChatMessage],
        role: str,
        tools: Sequence[ToolInfo],
        config: GenerateConfig,
        sha: str,
    ) -> ModelCall:
        model = _model(role)
        clock = time.monotonic()
        try:
            output = await model.generate(list(messages), list(tools), config=config)
        except LimitExceededError:
            raise
        except Exception as error:
            raise ProviderError(f"{model}: {type(error).__name__}: {error}") from error
        # A provider's own figure leaves out its queues and Inspect's retries.
        self.seconds += output.time or time.monotonic() - clock
        return ModelCall(
            role=role,
            model=str(model),
            request_sha=sha,
            reply=output.model_dump(mode="json", exclude_none=True),
            usage=_usage(output.usage),
            cost=output.usage.total_cost if output.usage else None,
        )


def request_sha(
    messages: Sequence[ChatMessage], tools: Sequence[ToolInfo], config: GenerateConfig
) -> str:
    """Digest what a model is asked; ids that are drawn anew each time do not count."""
    document = {
        "messages": [_without_id(message) for message in messages],
        "tools": [tool.model_dump(mode="json") for tool in tools],
        "config": config.model_dump(mode="json", exclude_none=True),
    }
    text = json.dumps(document, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_id(message: ChatMessage) -> dict[str, Any]:
    return message.model_dump(mode="json", exclude={"id"}, exclude_none=True)


def _model(role: str) -> Model:
    return get_model() if role == MAIN else get_model(role=role, default=get_model())


def _usage(usage: ModelUsage | None) -> dict[str, int]:
    if usage is None:
        return {}
    return {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.input_tokens_cache_read or 0,
    }
