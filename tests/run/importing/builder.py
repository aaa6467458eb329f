"""Log folders in the original's layout, made for tests."""

import json
from pathlib import Path
from typing import Any

BEGUN = 1_700_000_000.0
EVERY = 60.0
"""Seconds from one step to the next."""

Step = tuple[str, Any, str]
"""An action's name, its arguments and what was observed."""

RUN_TRAIN: Step = (
    "Execute Script",
    {"script_name": "train.py"},
    "The script has been executed. Here is the output:\nvalidation accuracy: 0.61\n",
)
EDIT: Step = (
    "Edit Script (AI)",
    {
        "script_name": "train.py",
        "edit_instruction": "train for nine epochs",
        "save_name": "train.py",
    },
    "The edited file is saved to train.py. The diff is:\n-epochs = 5\n+epochs = 9\n",
)
ANSWER: Step = ("Final Answer", {"final_answer": "accuracy is 0.61 now"}, "end")
PLAN = "1. measure the baseline\n2. train for longer"


def make_run(
    folder: Path,
    steps: list[Step],
    *,
    agent: dict[str, Any] | None = None,
    total: str | None = "auto",
    error: str | None = None,
) -> Path:
    """Write one run's folder; `agent` are the arguments of one that keeps a log."""
    env = folder / "env_log"
    (env / "traces" / "step_final_files").mkdir(parents=True)
    (env / "tool_logs").mkdir()
    (folder / "log").write_text("")
    trace = {
        "steps": [_step(at, step) for at, step in enumerate(steps)],
        "low_level_steps": [],
        "action_infos": {
            "List Files": {"name": "List Files", "function": "list_files"}
        },
        "task_description": "Improve the model.",
    }
    (env / "trace.json").write_text(json.dumps(trace, indent=4))
    if total == "auto":
        total = str(EVERY * len(steps) + 30)
    if total is not None:
        (env / "overall_time.txt").write_text(total)
    if error is not None:
        (env / "error.txt").write_text(error)
    if agent is not None:
        write_states(folder, steps, agent)
    return folder


def write_states(folder: Path, steps: list[Step], asked: dict[str, Any]) -> None:
    """Write what an agent saved after each of its turns."""
    (folder / "agent_log").mkdir()
    (folder / "agent_log" / "main_log").write_text("Enabled Tools in Prompt: []\n")
    history: list[dict[str, Any]] = []
    for at, step in enumerate(steps):
        history.append(turn(at + 1, step))
        write_state(folder, at, at, history, asked)


def write_state(
    folder: Path,
    env_step: int,
    agent_step: int,
    history: list[dict[str, Any]],
    asked: dict[str, Any],
) -> Path:
    state = {"args": arguments(**asked), "history_steps": history, "log_dir": "x"}
    path = folder / "agent_log" / f"agent_{env_step}_{agent_step}.json"
    path.write_text(json.dumps(state, indent=4))
    return path


def turn(after: int, step: Step, **said: str) -> dict[str, Any]:
    """Make one entry of an agent's history."""
    fields = {
        "Reflection": " the last step went well\n",
        "Research Plan and Status": f" {PLAN}\n\n",
        "Fact Check": " nothing to check\n",
        "Thought": f" step {after}\n",
        "Action": f" {step[0]}\n",
        "Action Input": f" {json.dumps(step[1])}\n",
    }
    return {"step_idx": after, "action": fields | said, "observation": step[2]}


def arguments(**asked: Any) -> dict[str, Any]:
    """Return a runner's arguments, changed as told."""
    return {
        "task": "cifar10",
        "agent_type": "ResearchAgent",
        "llm_name": "claude-v1",
        "fast_llm_name": "claude-v1",
        "edit_script_llm_name": "claude-v1",
        "max_steps": 50,
        "max_time": 18000,
        "agent_max_steps": 50,
        "retrieval": False,
        "valid_format_entires": None,
    } | asked


def _step(at: int, step: Step) -> dict[str, Any]:
    name, args, observation = step
    return {
        "action": {"name": name, "args": args},
        "observation": observation,
        "timestamp": BEGUN + EVERY * (at + 1),
    }
