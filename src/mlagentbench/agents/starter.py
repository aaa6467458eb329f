"""The paper's Baseline: run the starter as shipped, then submit."""

from mlagentbench.agents.context import Context


async def starter(context: Context) -> None:
    """Execute the task's own script once and hand in what it wrote."""
    script = context.task.script
    await context.act("Execute Script", script_name=script)
    await context.act("Final Answer", final_answer=f"I ran {script} unchanged.")
