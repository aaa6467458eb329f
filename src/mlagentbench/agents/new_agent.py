"""new_agent: an agent for mlagentbench.

Run it from the folder of this file:

    PYTHONPATH=. mlab run house-price --agent new_agent:solve
"""

import re

from mlagentbench.agents import Context

# Settings on top of a starter's script, such as `TREES = 40`.
SETTING = re.compile(r"^([A-Z][A-Z_]*) = (\d+)$", re.MULTILINE)
STEPS_TO_FINISH = 3


async def solve(context: Context) -> None:
    """Double one setting of the starter at a time; keep a change that helps."""
    script = context.task.script
    best_text = (await context.act("Read File", file_name=script)).observation
    best = await run_script(context)
    for name, value in SETTING.findall(best_text):
        # Trying a change takes two steps.
        if context.remaining().steps < STEPS_TO_FINISH + 2:
            break
        old, new = f"{name} = {value}", f"{name} = {2 * int(value)}"
        text = best_text.replace(old, new, 1)
        await context.act(
            "Write File", file_name=script, content=text, said={"Thought": f"try {new}"}
        )
        score = await run_script(context)
        if is_better(context, score, best):
            best_text, best = text, score
    # The submission comes from the last execution, so the best script runs again.
    await context.act("Write File", file_name=script, content=best_text)
    await run_script(context)
    await context.act("Final Answer", final_answer=f"best validation score: {best}")


async def run_script(context: Context) -> float | None:
    """Run the script; return the validation score that the harness measured."""
    step = await context.act("Execute Script", script_name=context.task.script)
    return step.validation.value if step.validation else None


def is_better(context: Context, score: float | None, best: float | None) -> bool:
    """Compare two scores in the direction of the task's metric."""
    if score is None or best is None:
        return score is not None
    return context.task.direction.sign * (score - best) > 0
