"""Agents without a search: the starter as shipped, and the reference solution."""

from mlagentbench.agents.context import Context


async def starter(context: Context) -> None:
    """Execute the task's script once and submit."""
    script = context.task.script
    await context.act("Execute Script", script_name=script)
    await context.act("Final Answer", final_answer=f"I ran {script} unchanged.")


async def reference(context: Context) -> None:
    """Write every file of the reference solution, execute it and submit."""
    solution = context.task.part("reference")
    for path in sorted(solution.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(solution).as_posix()
            await context.act("Write File", file_name=name, content=path.read_text())
    await context.act("Execute Script", script_name=context.task.script)
    await context.act("Final Answer", final_answer="This is the reference solution.")
