"""Tree search over scripts.

The harness decides which script is worked on; the model only writes scripts. Each trial
writes a whole script and executes it. A script that fails is debugged a few times, then
left. The script to improve is always the best so far, and that one is submitted.
"""

from dataclasses import dataclass, field
from typing import Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Pace, short_traceback
from mlagentbench.agents.prompt_files import ideas_for, prompt
from mlagentbench.agents.settings import TreeSettings
from mlagentbench.core import Fault, Step, sendable
from mlagentbench.environment import NoCodeError, fenced, python_block

STEPS_PER_TRIAL = 2
STEPS_TO_CLOSE = 2
"""Restoring the best script, and the final answer."""
MAX_FRUITLESS = 4
"""Requests in a row without a new script; then the best script is submitted."""
SCRIPT_TOKENS = 8_000
TRIES = 3
"""Each at a higher temperature: a model that is shown its mistake repeats it."""

_WITHOUT_IDEA = "Make one change that you expect to improve the validation score most."


async def tree(context: Context) -> None:
    """Grow the tree until the budget is nearly spent; submit the best script."""
    settings = TreeSettings.read(context.settings)
    pace = Pace(context)
    source = await context.act("Read File", file_name=context.task.script)
    scripts = ScriptTree(context.task.direction.sign)
    first = await context.act("Execute Script", script_name=context.task.script)
    scripts.add(source.observation, first, None, 0)
    await _search(context, settings, scripts, pace)
    best = scripts.best
    if best is not None and best is not scripts.nodes[-1]:
        await context.act("Restore Workspace", step_number=str(best.step))
    await context.act("Final Answer", final_answer=_answer(scripts, best))


@dataclass(eq=False)
class Node:
    """One executed script."""

    script: str
    step: int
    """The step that executed it, for Restore Workspace."""
    value: float | None
    """The measured validation score; None if it has none."""
    observation: str
    debugged: int = 0
    """The number of attempts at debugging that led to it."""
    children: "list[Node]" = field(default_factory=list)


class ScriptTree:
    """Every script executed so far."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.nodes: list[Node] = []

    def add(self, script: str, step: Step, parent: Node | None, debugged: int) -> None:
        value = step.validation.value if step.validation else None
        node = Node(script, step.step, value, step.told, debugged)
        if parent is not None:
            parent.children.append(node)
        self.nodes.append(node)

    @property
    def best(self) -> Node | None:
        """The script with the best validation score; of equals the first."""
        scored = [node for node in self.nodes if node.value is not None]
        return max(
            scored, key=lambda node: self._sign * (node.value or 0.0), default=None
        )

    def to_debug(self, attempts: int) -> Node | None:
        """Return the newest failed script that has attempts left."""
        failed = (
            node
            for node in reversed(self.nodes)
            if node.value is None and not node.children and node.debugged < attempts
        )
        return next(failed, None)

    def has(self, script: str) -> bool:
        return any(node.script.split() == script.split() for node in self.nodes)


@dataclass(frozen=True)
class Goal:
    """The kind of the next script, and the script to start from."""

    kind: Literal["draft", "debug", "improve"]
    node: Node


async def _search(
    context: Context, settings: TreeSettings, scripts: ScriptTree, pace: Pace
) -> None:
    writer, fruitless, drafts = Writer(context, settings), 0, 0
    name = context.task.script
    while _affordable(context, pace) and fruitless < MAX_FRUITLESS:
        goal = _next_goal(settings, scripts, drafts)
        drafts += goal.kind == "draft"
        script = await writer.write(goal, scripts)
        if script is None:
            fruitless += 1
            continue
        fruitless = 0
        thought = {"Thought": f"{goal.kind} from step {goal.node.step}"}
        await context.act("Write File", said=thought, file_name=name, content=script)
        step = await context.act("Execute Script", script_name=name)
        debugged = goal.node.debugged + 1 if goal.kind == "debug" else 0
        scripts.add(script, step, goal.node, debugged)


def _next_goal(settings: TreeSettings, scripts: ScriptTree, drafts: int) -> Goal:
    """Decide what to write: first debug, then drafts, then improve the best."""
    failed, best = scripts.to_debug(settings.debug), scripts.best
    if failed is not None:
        return Goal("debug", failed)
    if drafts < settings.drafts or best is None:
        return Goal("draft", scripts.nodes[0])
    return Goal("improve", best)


def _affordable(context: Context, pace: Pace) -> bool:
    enough_steps = context.remaining().steps >= STEPS_PER_TRIAL + STEPS_TO_CLOSE
    return pace.another_fits() and enough_steps


def _answer(scripts: ScriptTree, best: Node | None) -> str:
    if best is None or best.value is None:
        return f"None of {len(scripts.nodes)} scripts has a validation score."
    return (
        f"Of {len(scripts.nodes)} scripts the one of step {best.step} is best, with"
        f" validation score {best.value:.6g}."
    )


class Writer:
    """Asks for scripts; the fixed part of the prompt comes first, to be cached."""

    def __init__(self, context: Context, settings: TreeSettings) -> None:
        self._context = context
        task = context.task
        self._ideas = ideas_for(task.modality) if settings.ideas == "generic" else ()
        self._used = 0
        metric, direction = task.metric, task.direction
        self._system = prompt(
            "tree", metric=metric, direction=direction, problem=context.problem
        )

    async def write(self, goal: Goal, scripts: ScriptTree) -> str | None:
        """Return a script that was not executed before; None if no try gave one."""
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=self._system),
            ChatMessageUser(content=self._question(goal)),
        ]
        script: str | None = None
        reply, why = "", ""
        for attempt in range(TRIES):
            config = GenerateConfig(
                temperature=0.3 + 0.3 * attempt, max_tokens=SCRIPT_TOKENS
            )
            output = await self._context.ask(messages, config=config)
            reply, script = sendable(output.completion), None
            if output.stop_reason == "max_tokens":
                why = "the script was cut off by the length limit"
                continue
            try:
                script, why = (
                    python_block(reply),
                    "this very script was executed before",
                )
            except NoCodeError as missing:
                why = str(missing)
            if script is not None and not scripts.has(script):
                return script
        fault: Fault = "bad_reply" if script is None else "pointless"
        await self._context.reject(reply, f"No new script: {why}.", fault=fault)
        return None

    def _question(self, goal: Goal) -> str:
        script = fenced(goal.node.script)
        if goal.kind == "draft":
            return prompt("tree_draft", script=script)
        if goal.kind == "debug":
            failure = short_traceback(goal.node.observation)
            return prompt("tree_debug", script=script, failure=failure)
        idea = _WITHOUT_IDEA
        if self._ideas:
            chosen = self._ideas[self._used % len(self._ideas)]
            idea = f"Do exactly this and nothing else: {chosen}"
            self._used += 1
        return prompt("tree_improve", script=script, idea=idea)
