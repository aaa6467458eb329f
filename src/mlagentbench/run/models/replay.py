"""`replay/TRACE.jsonl`: a model that says again what it said in an earlier run."""

from collections import defaultdict, deque
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from mlagentbench.core.errors import ReplayError, UsageError
from mlagentbench.run.asking import request_sha
from mlagentbench.run.tracefile import read_trace


@modelapi(name="replay")
class ReplayModel(ModelAPI):
    """Answers a request with the reply it had in the recorded run."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
    ) -> None:
        """Read the trace that `model_name` names."""
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        if not Path(model_name).is_file():
            raise UsageError(f"there is no trace {model_name} to replay")
        trace = read_trace(Path(model_name), model_name)
        calls = [call for step in trace.steps for call in step.calls]
        self._replies: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for call in [*calls, *trace.calls]:
            self._replies[call.request_sha].append(call.reply)

    async def generate(
        self,
        input: list[ChatMessage],  # Inspect's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002  # Inspect's signature
        config: GenerateConfig,
    ) -> ModelOutput:
        """Give the recorded reply."""
        replies = self._replies.get(request_sha(input, tools, config))
        if not replies:
            raise ReplayError(f"{self.model_name} holds no reply to this request")
        # Asked the same again, it said something again; the last holds for ever.
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        return ModelOutput.model_validate(reply)
