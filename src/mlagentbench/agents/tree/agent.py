"""Search over a tree of solutions: draft, debug, improve, scored by validation.

The harness decides what is worked on; the model only writes scripts. Each trial
writes a whole script and executes it. A script that fails is mended once or twice, then
left; what is improved is always the best so far, and that is what is submitted.
"""

from mlagentbench.agents.context import Context
from mlagentbench.agents.pace import Pace
from mlagentbench.agents.tree.nodes import Node, Tree
from mlagentbench.agents.tree.settings import Settings, read_settings
from mlagentbench.agents.tree.writing import Wanted, Writer

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
