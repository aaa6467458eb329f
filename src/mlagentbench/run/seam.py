"""The seam to Inspect: an order becomes an Inspect task, one sample per run.

The solver lets the agent act. Collecting and judging happen in the scorer, because
Inspect still runs scorers, with the sandbox alive, when one of its limits ended a run.
"""

from inspect_ai import Task as InspectTask
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.run.acting import act_out
from mlagentbench.run.closing import circumstances, close_run, score_run
from mlagentbench.run.order import Order

# Registers the `bwrap` provider with Inspect.
from mlagentbench.environment.sandbox import provider  # noqa: F401  # isort: skip


def inspect_task(order: Order, seeds: tuple[int, ...]) -> InspectTask:
    """Return the order as something Inspect can evaluate."""
    return InspectTask(
        name=order.task.id,
        version=order.task.version,
        dataset=MemoryDataset([_sample(order, seed) for seed in seeds]),
        solver=_acting(order),
        scorer=_judging(order),
        metadata={"task": order.task.name, "agent": order.agent_label},
    )


def _sample(order: Order, seed: int) -> Sample:
    return Sample(
        id=f"{order.task.id}:{seed}",
        input=order.problem,
        metadata={"seed": seed, "run": str(order.run_id(seed))},
        sandbox=SandboxEnvironmentSpec("bwrap", order.sandbox_config(seed)),
    )


def _acting(order: Order) -> Solver:
    @solver(name="agent")
    def agent() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # Inspect's signature
            await act_out(order, order.run_id(state.metadata["seed"]), sandbox())
            return state

        return solve

    return agent()


def _judging(order: Order) -> Scorer:
    @scorer(name="judge", metrics={"success": [mean()], "improvement": [mean()]})
    def judge() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # Inspect's signature
            run, experiment = order.run_id(state.metadata["seed"]), order.experiment
            await close_run(order.task, run, experiment, sandbox())
            under = circumstances(order.sandbox, order.attempt)
            card = await score_run(order.task, order.prepared, run, experiment, under)
            experiment.add(card)
            return _as_score(card)

        return score

    return judge()


def _as_score(card: Scorecard) -> Score:
    if not card.ending.counts:
        return Score.unscored(reason=card.ending, explanation=card.reason)
    return Score(
        value={
            "success": float(card.success),
            # Nothing valid was submitted: no improvement, counted as none.
            "improvement": card.improvement or 0.0,
        },
        explanation=card.submission_error or f"{card.metric} = {card.score}",
        metadata=card.model_dump(mode="json"),
    )
