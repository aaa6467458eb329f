"""What a model saw at a step, found by replaying the agent up to it."""

import random

from mlagentbench.agents.table import find_agent, load_agent
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.account import Account
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.preparing import same_task
from mlagentbench.run.rehearsal import Prompt, Rehearsal, rehearse
from mlagentbench.run.replay import Past
from mlagentbench.run.speech import speech_of
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.problem import problem


def prompts_of(experiment: Experiment, run: RunId, step: int) -> list[Prompt]:
    """Return every request of the agent's that led to `step`, exactly as it was."""
    trace = read_trace(experiment.trace(run), str(run))
    if not 1 <= step <= len(trace.steps):
        raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
    asked = experiment.asked
    task = same_task(next(one for one in asked.tasks if one.id == run.task))
    rehearsal = Rehearsal(
        task=task,
        problem=problem(task),
        settings=asked.settings,
        speech=speech_of(asked.model),
        rng=random.Random(str(run)),
        past=Past(trace),
        until=step,
        account=Account(task.budget),
    )
    rehearse(load_agent(find_agent(asked.agent)), rehearsal)
    return rehearsal.prompts
