"""Asking a model for one script: a draft, a mended one, or a better one."""

from dataclasses import dataclass
from typing import Literal

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)

from mlagentbench.agents.complaint import complaint
from mlagentbench.agents.context import Context
from mlagentbench.agents.prompting import prompt
from mlagentbench.agents.tree.nodes import Node, Tree
from mlagentbench.agents.tree.settings import Settings
from mlagentbench.core.trace import Fault
from mlagentbench.environment.code_blocks import NoCodeError, python_block
from mlagentbench.environment.prompts import fenced, sendable

SCRIPT_TOKENS = 8_000
TRIES = 3
"""Each one warmer than the last: a model that is told its mistake repeats it."""

_WITHOUT_IDEA = "Make one change that you expect to improve the validation score most."


@dataclass(frozen=True)
class Wanted:
    """What is to be written, from which solution."""

    kind: Literal["draft", "debug", "improve"]
    node: Node

    @property
    def said(self) -> str:
        """What the step says about it."""
        return f"{self.kind} from step {self.node.step}"


class Writer:
    """Writes scripts; the fixed part of its prompt comes first, to be cached."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self._context = context
        self._ideas = settings.ideas
        self._used = 0
        task = context.task
        self._system = prompt(
            "tree",
            metric=task.metric,
            direction=task.direction,
            problem=context.problem,
        )

    async def write(self, wanted: Wanted, grown: Tree) -> str | None:
        """Return a script that was not executed before; None where none came."""
        request, reply, why = self._request(wanted), "", ""
        script: str | None = None
        for attempt in range(TRIES):
            output = await self._ask(request, 0.3 + 0.3 * attempt)
            reply = sendable(output.completion)
            script, why = _script_in(reply, cut_off=output.stop_reason == "max_tokens")
            if script is not None and not grown.knows(script):
                return script
        fault: Fault = "bad_reply" if script is None else "pointless"
        why = why or "this very script was executed before"
        await self._context.reject(reply, f"No new script: {why}.", fault=fault)
        return None

    async def _ask(self, request: str, temperature: float) -> ModelOutput:
        return await self._context.ask(
            [
                ChatMessageSystem(content=self._system),
                ChatMessageUser(content=request),
            ],
            config=GenerateConfig(temperature=temperature, max_tokens=SCRIPT_TOKENS),
        )

    def _request(self, wanted: Wanted) -> str:
        node = wanted.node
        if wanted.kind == "draft":
            return prompt("tree_draft", script=fenced(node.script))
        if wanted.kind == "debug":
            failure = complaint(node.told)
            return prompt("tree_debug", script=fenced(node.script), failure=failure)
        return prompt("tree_improve", script=fenced(node.script), idea=self._idea())

    def _idea(self) -> str:
        if not self._ideas:
            return _WITHOUT_IDEA
        idea = self._ideas[self._used % len(self._ideas)]
        self._used += 1
        return f"Do exactly this and nothing else: {idea}"


def _script_in(reply: str, *, cut_off: bool) -> tuple[str | None, str]:
    """Return the script in a reply, or why there is none."""
    if cut_off:
        return None, "the script was cut off by the length limit"
    try:
        return python_block(reply), ""
    except NoCodeError as missing:
        return None, str(missing)
