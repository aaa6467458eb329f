"""The actions as Inspect tools, so that any model or Inspect agent can take them."""

from collections.abc import Awaitable, Callable

from inspect_ai.tool import Tool, ToolDef, ToolParam, ToolParams

from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS

Act = Callable[[str, dict[str, str]], Awaitable[str]]
"""Takes an action's name and arguments, records the step, returns the observation."""


def action_tools(act: Act) -> list[Tool]:
    """Return every action as a tool whose calls go through `act`."""
    return [_as_tool(action, act) for action in ACTIONS.values()]


def _as_tool(action: Action, act: Act) -> Tool:
    async def execute(**given: str) -> str:
        return await act(action.name, given)

    return ToolDef(
        execute,
        name=action.tool_name,
        description=action.summary,
        parameters=_parameters(action),
        parallel=False,
    ).as_tool()


def _parameters(action: Action) -> ToolParams:
    properties = {
        name: ToolParam(type="string", description=text)
        for name, text in action.parameters.items()
    }
    return ToolParams(properties=properties, required=list(properties))
