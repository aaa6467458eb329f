"""An agent that takes every composed action, and one script for all its models."""

from mlagentbench.agents.context import Context

LONG = "".join(f"note {number:04d} {'.' * 90}\n" for number in range(120))
EDIT = "Edit Script (AI)"


async def composer(context: Context) -> None:
    """Edit, undo, look and note down, in an order that depends on nothing."""
    await edit(context, "models/net.py", "write WIDTH = 1")
    await edit(context, "models/net.py", "write WIDTH = 2")
    await edit(context, "models/net.py", "write WIDTH = 3")
    await context.act("Undo Edit Script", script_name="models/net.py")
    await context.act("Read File", file_name="models/net.py")
    await edit(context, "models/net.py", "say nothing useful")
    await edit(context, "models/net.py", "say too much")
    await edit(context, "evaluate.py", "write WIDTH = 4")
    await context.act("Write File", file_name="notes.txt", content=LONG)
    await context.act(
        "Understand File", file_name="notes.txt", things_to_look_for="notes"
    )
    await context.act("Append Summary to Research Log", content="WIDTH is 2")
    await context.act("Retrieval from Research Log", current_plan="widen")
    await context.act("Reflection", things_to_reflect_on="width")
    await context.act("Run Command", command="cat models/net.py && python train.py")
    await context.act("Final Answer", final_answer="done")


async def edit(context: Context, name: str, instruction: str) -> None:
    """Have a script edited in its place."""
    await context.act(
        EDIT, script_name=name, edit_instruction=instruction, save_name=name
    )


def respond(messages):
    """Do as the prompt says, or fail as it says."""
    asked = messages[-1].text
    if "say nothing useful" in asked:
        return "I would rather not."
    if "say too much" in asked:
        return {"text": "```python\nWIDTH = 9\n```", "stop_reason": "max_tokens"}
    if "You edit Python scripts." in asked:
        code = asked.rsplit("write ", 1)[1].split("\n")[0]
        return f"```python\n{code}\n```"
    return f"an answer to {len(asked)} characters"
