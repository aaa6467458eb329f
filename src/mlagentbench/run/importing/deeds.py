"""What the original's environment wrote down: the steps of `env_log/trace.json`."""

from mlagentbench.core.record import Record
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.importing.finding import joined
from mlagentbench.run.importing.reading import LogTree
from mlagentbench.run.importing.texts import (
    INPUT_CHARACTERS,
    as_moment,
    as_name,
    as_text,
    as_texts,
)

FINAL_ANSWER = "Final Answer"
_MOST_STEPS = 2_000


class Deed(Record):
    """One step of the original's environment."""

    number: int
    """Counted from 1, unreadable ones too."""
    action: str
    given: dict[str, str]
    observation: str
    """Whole; it is shortened when it becomes a step of ours."""
    at: float | None
    """When it was done, in seconds since 1970."""


def read_deeds(tree: LogTree, run: str) -> tuple[Deed, ...] | None:
    """Read a run's steps; None where its trace cannot be read at all."""
    path = joined(run, "env_log/trace.json")
    if not tree.exists(path):
        tree.warn(path, "there is none")
        return None
    known = len(tree.warnings)
    trace = tree.json(path)
    if not isinstance(trace, dict) or not isinstance(trace.get("steps"), list):
        if len(tree.warnings) == known:
            tree.warn(path, "not read: it has no list of steps")
        return None
    steps = trace["steps"] or _primitive_steps(tree, path, trace)
    if len(steps) > _MOST_STEPS:
        tree.warn(path, f"more than {_MOST_STEPS} steps; the last are left out")
    deeds = []
    for number, step in enumerate(steps[:_MOST_STEPS], start=1):
        if (deed := _deed(number, step)) is None:
            tree.warn(path, f"step {number} is none and is left out")
        else:
            deeds.append(deed)
    return tuple(deeds)


def _primitive_steps(
    tree: LogTree, path: str, trace: dict[object, object]
) -> list[object]:
    """Return what was done past the environment, where nothing went through it."""
    primitive = trace.get("low_level_steps")
    if not isinstance(primitive, list) or not primitive:
        return []
    tree.warn(path, "it has low-level steps only; these are taken for the steps")
    return primitive


def _deed(number: int, step: object) -> Deed | None:
    if not isinstance(step, dict) or not isinstance(step.get("action"), dict):
        return None
    name = _action_name(step["action"].get("name"))
    if not name:
        return None
    return Deed(
        number=number,
        action=name,
        given=_given(name, step["action"].get("args")),
        observation=as_text(step.get("observation", "")),
        at=as_moment(step.get("timestamp")),
    )


def _action_name(value: object) -> str:
    """Return our name of an action; most are the original's."""
    name = as_name(value)
    known = {ours.casefold(): ours for ours in ACTIONS}
    return known.get(name.casefold(), name)


def _given(action: str, args: object) -> dict[str, str]:
    if isinstance(args, dict):
        return as_texts(args)
    ours = ACTIONS.get(action)
    names = list(ours.parameters) if ours is not None else []
    name = names[0] if len(names) == 1 else "input"
    return {name: shortened(as_text(args), INPUT_CHARACTERS)}
