"""Agents of the tests' own for tasks whose submission is code."""

from mlagentbench.agents.context import Context

TELLTALE = """
def forward(images, kernels, bias, stride, pad):
    raise RuntimeError(f"seen {float(images.sum())!r}")
"""


async def telltale(context: Context) -> None:
    """Submit code that tells what it was given, and ask for its refusal."""
    await context.act("Write File", file_name="layer.py", content=TELLTALE)
    await context.act("Check Submission")
    await context.act("Final Answer", final_answer="done")


async def repeater(context: Context) -> None:
    """Execute the same code twice, then other code."""
    await context.act("Execute Script", script_name="train.py")
    await context.act("Execute Script", script_name="train.py")
    code = (context.task.folder / "reference" / "layer.py").read_text()
    await context.act("Write File", file_name="layer.py", content=code)
    await context.act("Execute Script", script_name="train.py")
    await context.act("Final Answer", final_answer="done")


async def twice(context: Context) -> None:
    """Execute the script twice, check the submission and submit."""
    await context.act("Execute Script", script_name="train.py")
    await context.act("Execute Script", script_name="train.py")
    await context.act("Check Submission")
    await context.act("Final Answer", final_answer="done")


_FAILING = "def read_date(text):\n    raise RuntimeError(f'seen {text}')\n"


async def failing(context: Context) -> None:
    """Submit code that fails with its input in the message, executed and checked."""
    await context.act("Write File", file_name="dates.py", content=_FAILING)
    await context.act("Write File", file_name="train.py", content="print('done')\n")
    await context.act("Execute Script", script_name="train.py")
    await context.act("Check Submission")
    await context.act("Final Answer", final_answer="done")
