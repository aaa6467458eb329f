"""What a model says as the paper's agents: measure, have it edited, measure, submit."""

import json
import re

from voices.case import Case, improved

FIELDS = {
    "Reflection": "The observation is as expected.",
    "Research Plan and Status": "1. Measure the starter. **2. More trees.**",
    "Fact Check": "Nothing here is a guess.",
    "Thought": "I take the next step of the plan.",
}
PLOT = (
    ("Execute Script", {"script_name": "train.py"}),
    (
        "Edit Script (AI)",
        {
            "script_name": "train.py",
            "edit_instruction": "Use more trees.",
            "save_name": "train.py",
        },
    ),
    ("Execute Script", {"script_name": "train.py"}),
    ("Final Answer", {"final_answer": "More trees are better."}),
)
TOOLS = {
    "Execute Script": "execute_script",
    "Edit Script (AI)": "edit_script_ai",
    "Final Answer": "final_answer",
}


def in_text(messages):
    """Speak in fields of text."""
    return beside_the_plot(messages) or as_text(fields(messages), *next_move(messages))


def in_tools(messages):
    """Speak by calling tools."""
    action, given = next_move(messages)
    call = {"name": TOOLS[action], "arguments": given}
    headers = [f"{name}: {text}" for name, text in fields(messages).items()]
    said = {"text": "\n".join(headers), "tool_calls": [call]}
    return beside_the_plot(messages) or said


def in_schema(messages):
    """Speak in JSON."""
    action, given = next_move(messages)
    said = {name.lower().replace(" ", "_"): t for name, t in fields(messages).items()}
    return beside_the_plot(messages) or json.dumps(
        said | {"action": action, "input": given}
    )


def beside_the_plot(messages):
    """Answer as the editor or the helper, where the prompt is theirs."""
    asked = messages[0].text
    if asked.startswith("You edit Python scripts."):
        return f"Here it is:\n```python\n{improved(script_in(asked))}```\n"
    if is_main(messages):
        return None
    return "The script was run and works."


def is_main(messages):
    """Tell whether the agent itself asks for its next move."""
    return messages[0].text.startswith("You are a researcher in machine learning.")


def next_move(messages):
    """Return what comes next in the plot."""
    return PLOT[min(sum(m.role == "assistant" for m in messages), len(PLOT) - 1)]


def fields(messages):
    """Return the fields that the prompt asks for."""
    asked = messages[0].text
    keys = {name: name.lower().replace(" ", "_") for name in FIELDS}
    return {
        name: text
        for name, text in FIELDS.items()
        if f"{name}: ..." in asked or f'"{keys[name]}": "..."' in asked
    }


def script_in(asked):
    """Return the script that an editor is to change."""
    begins = r"(?:The script|Its lines [^\n]*):\n(`{3,})text\n"
    return re.search(rf"{begins}(.*?\n)\1\n", asked, re.DOTALL).group(2)


def as_text(said, action, given):
    """Write a reply in fields of text."""
    headers = [f"{name}: {text}" for name, text in said.items()]
    moved = [f"Action: {action}", f"Action Input: {json.dumps(given)}"]
    return "\n".join([*headers, *moved])


def _cases(agent, **settings):
    return [
        Case(
            agent,
            f"voices.classic:in_{protocol}",
            {**settings, "protocol": protocol},
        )
        for protocol in ("text", "tools", "schema")
    ]


CASES = [
    *_cases("act"),
    *_cases("react"),
    *_cases("research", style="classic"),
    Case("research", "voices.classic:in_text", {"style": "classic", "log": "on"}),
]
