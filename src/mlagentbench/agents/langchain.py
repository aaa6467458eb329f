"""LangChain's agent on the harness's actions, through Inspect's agent bridge.

Its model calls go through the bridge to the context, so that they are recorded, counted
and replayed as those of any other agent. Its tools are actions, so that each call of a
tool is a step.
"""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from inspect_ai.agent import agent_bridge
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from mlagentbench.agents.context import Context
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.settings import AgentSettings
from mlagentbench.core import Step, UsageError, install_command
from mlagentbench.environment import ACTIONS, Action

try:
    from langchain.agents import create_agent
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_openai import ChatOpenAI
except ImportError as missing:
    raise UsageError(
        f"the agent langchain needs LangChain: run `{install_command('langchain')}`"
    ) from missing

TOOLS = (
    "List Files",
    "Read File",
    "Write File",
    "Execute Script",
    "Python REPL",
    "Final Answer",
)
_BRIDGED = "inspect/mockllm/model"
"""A name that the bridge intercepts. The model behind it is never called, because every
request is answered through the context."""
_TURNS_PER_STEP = 4
"""LangChain counts model calls and tool calls; some of them are not steps."""


_T = TypeVar("_T")


async def langchain(context: Context) -> None:
    """Run LangChain's agent until it stops calling tools."""
    AgentSettings.read(context.settings)
    over = _Over()
    tools = [_as_tool(ACTIONS[name], context, over) for name in TOOLS]
    async with agent_bridge(filter=_bridge_to(context, over)):
        worker: Any = create_agent(
            ChatOpenAI(model=_BRIDGED, api_key="bridged", use_responses_api=False),
            tools,
            system_prompt=prompt("langchain"),
        )
        with contextlib.suppress(_OverError):
            await worker.ainvoke(
                {"messages": [("user", context.problem)]},
                {"recursion_limit": _TURNS_PER_STEP * context.task.budget.steps},
            )
    if over.by is not None:
        raise over.by


class _OverError(Exception):
    """An exception that LangChain does not catch; ends its loop."""


class _Over:
    """The exception that ended the run, kept while LangChain's loop unwinds."""

    by: BaseException | None = None

    async def unless(self, awaitable: Awaitable[_T]) -> _T:
        """Await; keep the first exception and end LangChain's loop."""
        try:
            return await awaitable
        except BaseException as by:
            self.by = self.by or by
            raise _OverError from by


def _bridge_to(context: Context, over: _Over) -> Callable[..., Awaitable[ModelOutput]]:
    async def ask(
        model: Model | str,  # noqa: ARG001  # the context has it
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,  # noqa: ARG001  # LangChain leaves it open
        config: GenerateConfig,  # noqa: ARG001  # the harness decides
    ) -> ModelOutput:
        return await over.unless(context.ask(messages, tools=tools))

    return ask


def _as_tool(action: Action, context: Context, over: _Over) -> BaseTool:
    async def run(**given: Any) -> str:  # noqa: ANN401  # as the model wrote them
        step = await over.unless(_step(action, context, given))
        if action.ends_run and step.ok:
            raise _OverError
        # The paper's agents saw only the output of scripts. Tasks with visible labels
        # keep the note, because it is in the prompts of recorded runs.
        return step.observation if context.task.hides_validation else step.told

    texts = {
        name: {"type": "string", "description": text}
        for name, text in action.parameters.items()
    }
    return StructuredTool.from_function(
        coroutine=run,
        name=action.tool_name,
        description=action.summary,
        args_schema={"type": "object", "properties": texts, "required": list(texts)},
    )


async def _step(action: Action, context: Context, given: dict[str, Any]) -> Step:
    if set(given) != set(action.parameters):
        why = f"Wrong arguments. Usage: {action.usage}"
        return await context.reject(f"{action.name} {sorted(given)}", why)
    texts: dict[str, Any] = {name: str(value) for name, value in given.items()}
    return await context.act(action.name, **texts)
