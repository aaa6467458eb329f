"""Tree search over scripts.

The harness decides what is worked on; the model only writes scripts. Each trial
writes a whole script and executes it. A script that fails is mended once or twice, then
left; what is improved is always the best so far, and that is what is submitted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Pace, complaint
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.settings import read_ideas, read_number, refuse_unknown
from mlagentbench.core.text import sendable
from mlagentbench.core.trace import Fault, Step
from mlagentbench.environment.prompts import NoCodeError, fenced, python_block

STEPS_PER_TRIAL = 2
STEPS_TO_CLOSE = 2
"""Going back to the best, and the final answer."""
FRUITLESS_AT_MOST = 4
"""Wishes in a row that brought no new script; then what there is is submitted."""


async def tree(context: Context) -> None:
    """Grow the tree until the budget is nearly spent; submit the best."""
    settings = read_settings(context.settings, context.task.modality)
    pace = Pace(context)
    source = await context.act("Read File", file_name=context.task.script)
    grown = Tree(context.task.direction.sign)
    first = await context.act("Execute Script", script_name=context.task.script)
    grown.grow(source.observation, first, None, 0)
    await _search(context, settings, grown, pace)
    await _submit(context, grown)


@dataclass(eq=False)
class Node:
    """One script that was executed."""

    script: str
    step: int
    """The step that executed it; the workspace can go back to it."""
    value: float | None
    """The measured validation score; None where it has none."""
    told: str
    """What its execution showed."""
    parent: "Node | None" = None
    debugged: int = 0
    """How many attempts at mending led to it."""
    children: "list[Node]" = field(default_factory=list)


class Tree:
    """Every solution tried so far."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.nodes: list[Node] = []

    def grow(self, script: str, step: Step, parent: Node | None, debugged: int) -> Node:
        """Add what an execution made known."""
        value = step.validation.value if step.validation else None
        node = Node(script, step.step, value, step.told, parent, debugged)
        if parent is not None:
            parent.children.append(node)
        self.nodes.append(node)
        return node

    @property
    def best(self) -> Node | None:
        """The solution with the best validation score; of equals the first."""
        scored = [node for node in self.nodes if node.value is not None]
        return max(scored, key=self._merit, default=None)

    def _merit(self, node: Node) -> float:
        return self._sign * (node.value or 0.0)

    def to_mend(self, attempts: int) -> Node | None:
        """Return the newest failed solution that nobody has tried often enough."""
        failed = [
            node
            for node in reversed(self.nodes)
            if node.value is None and not node.children and node.debugged < attempts
        ]
        return failed[0] if failed else None

    def knows(self, script: str) -> bool:
        """Tell whether this very script was executed before."""
        return any(node.script.split() == script.split() for node in self.nodes)


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    ideas: tuple[str, ...]
    """Tried one after the other, again from the first when all were; may be none."""
    drafts: int
    """Solutions written anew before the best is improved."""
    debug: int
    """How often a script that fails is mended."""


async def _search(
    context: Context, settings: Settings, grown: Tree, pace: Pace
) -> None:
    writer, fruitless, drafts = Writer(context, settings), 0, 0
    while _affordable(context, pace) and fruitless < FRUITLESS_AT_MOST:
        wanted = _wanted(settings, grown, drafts)
        drafts += wanted.kind == "draft"
        script = await writer.write(wanted, grown)
        fruitless = 0 if script is not None else fruitless + 1
        if script is not None:
            await _try(context, grown, script, wanted)


@dataclass(frozen=True)
class Wanted:
    """What is to be written, from which solution."""

    kind: Literal["draft", "debug", "improve"]
    node: Node

    @property
    def said(self) -> str:
        """What the step says about it."""
        return f"{self.kind} from step {self.node.step}"


def _wanted(settings: Settings, grown: Tree, drafts: int) -> Wanted:
    """Decide what to work on: mend first, then drafts, then the best."""
    failed, best = grown.to_mend(settings.debug), grown.best
    if failed is not None:
        return Wanted("debug", failed)
    if drafts < settings.drafts or best is None:
        return Wanted("draft", grown.nodes[0])
    return Wanted("improve", best)


async def _try(context: Context, grown: Tree, script: str, wanted: Wanted) -> None:
    name = context.task.script
    said = {"Thought": wanted.said}
    await context.act("Write File", said=said, file_name=name, content=script)
    step = await context.act("Execute Script", script_name=name)
    mended = wanted.node.debugged + 1 if wanted.kind == "debug" else 0
    grown.grow(script, step, wanted.node, mended)


def _affordable(context: Context, pace: Pace) -> bool:
    enough_steps = context.remaining().steps >= STEPS_PER_TRIAL + STEPS_TO_CLOSE
    return pace.another_fits() and enough_steps


async def _submit(context: Context, grown: Tree) -> None:
    best = grown.best
    if best is not None and best is not grown.nodes[-1]:
        await context.act("Restore Workspace", step_number=str(best.step))
    await context.act("Final Answer", final_answer=_answer(grown, best))


def _answer(grown: Tree, best: Node | None) -> str:
    if best is None or best.value is None:
        return f"None of {len(grown.nodes)} scripts has a validation score."
    return (
        f"Of {len(grown.nodes)} scripts the one of step {best.step} is best, with"
        f" validation score {best.value:.6g}."
    )


def read_settings(given: Mapping[str, str], modality: str) -> Settings:
    """Read `-A ideas=off|generic`, `-A drafts=N` and `-A debug=N`."""
    refuse_unknown(given, ("ideas", "drafts", "debug"))
    return Settings(
        ideas=read_ideas(given, modality),
        drafts=read_number(given, "drafts", 0, least=0, most=20),
        debug=read_number(given, "debug", 1, least=0, most=5),
    )


SCRIPT_TOKENS = 8_000
TRIES = 3
"""Each one warmer than the last: a model that is told its mistake repeats it."""

_WITHOUT_IDEA = "Make one change that you expect to improve the validation score most."


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
