"""Scripted replies of the model in the recorded experiments.

Recorded as `--model scripted/recorded_replies:reply`. The next turn follows from the
messages alone, so a resumed run gets the replies it would have got undisturbed.
"""

import json
import re

SCRIPT = "train.py"
EDIT = {"TREES": "80", "MAX_DEPTH": "4"}
TURNS = (
    ("List Files", {"dir_path": "."}),
    (
        "Understand File",
        {"file_name": SCRIPT, "things_to_look_for": "the constants"},
    ),
    (
        "Inspect Script Lines",
        {"script_name": SCRIPT, "start_line_number": "1", "end_line_number": "20"},
    ),
    ("Execute Script", {"script_name": SCRIPT}),
    (
        "Edit Script (AI)",
        {
            "script_name": SCRIPT,
            "edit_instruction": "Use more trees and more slices.",
            "save_name": SCRIPT,
        },
    ),
    ("Execute Script", {"script_name": SCRIPT}),
    ("Final Answer", {"final_answer": "More trees and slices reduce the error."}),
)


def reply(messages):
    """Answer as editor, helper or researcher, depending on the prompt."""
    asked = messages[0].text
    if asked.startswith("You edit Python scripts."):
        return f"```python\n{_edited(_script(asked))}```\n"
    if not asked.startswith("You are a researcher in machine learning."):
        return "The script fits averages over slices of x; the step worked."
    turn = _turns_taken(messages)
    action, given = TURNS[turn]
    return "\n".join(
        [
            "Reflection: The last observation is as expected.",
            "Research Plan and Status: Measure, edit the constants, measure, submit.",
            "Fact Check: Every number comes from an observation.",
            f"Thought: This is turn {turn + 1}.",
            f"Action: {action}",
            f"Action Input: {json.dumps(given)}",
        ]
    )


def _turns_taken(messages):
    """Read the number of the last turn; the agent shows only its last few replies."""
    said = [message.text for message in messages if message.role == "assistant"]
    numbers = re.findall(r"Thought: This is turn (\d+)", "\n".join(said))
    return int(numbers[-1]) if numbers else 0


def _script(asked):
    return re.search(r"The script:\n(`{3,})text\n(.*?\n)\1\n", asked, re.DOTALL)[2]


def _edited(script):
    for name, value in EDIT.items():
        script = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", script)
    return script
