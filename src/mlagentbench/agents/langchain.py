"""LangChain's own agent on our actions, with its model calls bridged to ours.

What it asks goes through Inspect's agent bridge to the context, so that it is recorded,
counted and replayed like any other agent's; its tools are actions, so that each run of
one is a step.
"""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from inspect_ai.agent import agent_bridge
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from mlagentbench.agents.context import Context
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.settings import refuse_unknown
from mlagentbench.core.errors import UsageError
from mlagentbench.core.trace import Step
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

TOOLS = (
    "List Files",
    "Read File",
    "Write File",
    "Execute Script",
    "Python REPL",
    "Final Answer",
)
_BRIDGED = "inspect/mockllm/model"
"""A name by which the bridge takes requests for its own. The model behind it is never
asked, because everything is answered through the context."""
_TURNS_PER_STEP = 4
"""LangChain counts model calls and tool calls; some of them come to no step."""


async def langchain(context: Context) -> None:
    """Let LangChain's agent work until it stops calling tools."""
    refuse_unknown(context.settings, ())
    create_agent, chat_model = _langchain()
    over = _Over()
    tools = [_as_tool(ACTIONS[name], context, over) for name in TOOLS]
    system = prompt("langchain")
    async with agent_bridge(filter=_through(context, over)):
        worker = create_agent(
            chat_model(model=_BRIDGED, api_key="bridged", use_responses_api=False),
            tools,
            system_prompt=system,
        )
        with contextlib.suppress(_OverError):
            await worker.ainvoke(
                {"messages": [("user", context.problem)]},
                {"recursion_limit": _TURNS_PER_STEP * context.task.budget.steps},
            )
    over.raise_again()


class _OverError(Exception):
    """Ends LangChain's loop by a way it lets pass."""


class _Over:
    """Keeps what ended the run while LangChain is left."""

    def __init__(self) -> None:
        self._by: BaseException | None = None

    async def unless(self, doing: Awaitable[Any]) -> Any:  # noqa: ANN401  # whatever is done
        """Return what is done; whatever is raised ends the run, and only once."""
        try:
            return await doing
        except BaseException as by:
            self._by = self._by or by
            raise _OverError from by

    def raise_again(self) -> None:
        """Let what ended the run go on its way to whoever runs the agent."""
        if self._by is not None:
            raise self._by


def _through(context: Context, over: _Over) -> Callable[..., Awaitable[ModelOutput]]:
    async def ask(
        model: Model | str,  # noqa: ARG001  # the context knows it
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,  # noqa: ARG001  # LangChain leaves it open
        config: GenerateConfig,  # noqa: ARG001  # whoever runs us decides that
    ) -> ModelOutput:
        output: ModelOutput = await over.unless(context.ask(messages, tools=tools))
        return output

    return ask


def _as_tool(action: Action, context: Context, over: _Over) -> "BaseTool":
    from langchain_core.tools import StructuredTool

    async def run(**given: Any) -> str:  # noqa: ANN401  # whatever a model gives
        step: Step = await over.unless(_step(action, context, given))
        if action.ends_run and step.ok:
            raise _OverError
        return step.told

    return StructuredTool.from_function(
        coroutine=run,
        name=action.tool_name,
        description=action.summary,
        args_schema=_arguments(action),
    )


async def _step(action: Action, context: Context, given: dict[str, Any]) -> Step:
    if set(given) != set(action.parameters):
        why = f"Wrong arguments. Usage: {action.usage}"
        return await context.reject(f"{action.name} {sorted(given)}", why)
    texts: dict[str, Any] = {name: str(value) for name, value in given.items()}
    return await context.act(action.name, **texts)


def _arguments(action: Action) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text}
            for name, text in action.parameters.items()
        },
        "required": list(action.parameters),
    }


def _langchain() -> tuple[Callable[..., Any], Callable[..., Any]]:
    try:
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI
    except ImportError as missing:
        raise UsageError(
            "the agent langchain needs LangChain: pip install 'mlagentbench[langchain]'"
        ) from missing
    return create_agent, ChatOpenAI
