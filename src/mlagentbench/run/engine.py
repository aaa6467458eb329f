"""Handing orders to Inspect's engine, and hearing which runs it could not hold."""

import logging
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from mlagentbench.run.models.reach import reached
from mlagentbench.run.order import Models, Order
from mlagentbench.run.plan import NO_MODEL
from mlagentbench.run.seam import inspect_task

Work = list[tuple[Order, tuple[int, ...]]]
"""Orders, each with the seeds to run."""


class Interrupted(Exception):  # noqa: N818  # a person's wish, no error
    """A person stopped the experiment."""


def evaluate_orders(work: Work, logs: Path, parallel: int) -> dict[str, str]:
    """Run everything; return what went wrong outside our own code, by run."""
    logging.getLogger("inspect_ai").setLevel(logging.ERROR)
    try:
        # Standard output is for results; whatever the engine says is progress.
        with redirect_stdout(sys.stderr):
            results = _evaluate(work, logs, parallel)
    except KeyboardInterrupt:
        raise Interrupted from None
    # Inspect hands back no log at all for a task that was cancelled under way.
    if len(results) < len(work) or any(log.status == "cancelled" for log in results):
        raise Interrupted
    of_runs = {run: why for result in results for run, why in _failures(result)}
    return _of_tasks(work, results) | of_runs


def _evaluate(work: Work, logs: Path, parallel: int) -> list[EvalLog]:
    return inspect_eval(
        [inspect_task(order, seeds) for order, seeds in work],
        **_of_models(work[0][0].models),
        log_dir=str(logs),
        log_format="eval",
        display="none",
        fail_on_error=False,
        score_display=False,
        # Both keep files outside our folder, which a killed run would leave there.
        ctl_server=False,
        log_realtime=False,
        max_tasks=len(work),
        max_samples=parallel,
        max_sandboxes=parallel,
        # An execution holds its slot for minutes; others must not wait for it.
        max_subprocesses=max(8, 4 * parallel),
    )


def _of_models(models: Models) -> dict[str, Any]:
    if models.main == NO_MODEL:
        return {"model": None}
    # Made here, because Inspect takes a name with a comma in it for several.
    return {
        "model": reached(models.main, models.args),
        "model_roles": {role: reached(name) for role, name in models.roles.items()},
        **models.patience.model_dump(),
    }


def _of_tasks(work: Work, results: list[EvalLog]) -> dict[str, str]:
    """Return why whole tasks failed, for each of their runs."""
    failed = {
        result.eval.task: result.error.message for result in results if result.error
    }
    return {
        str(order.run_id(seed)): failed[order.task.id]
        for order, seeds in work
        for seed in seeds
        if order.task.id in failed
    }


def _failures(result: EvalLog) -> list[tuple[str, str]]:
    samples = result.samples or []
    return [
        (str(sample.metadata.get("run")), sample.error.message)
        for sample in samples
        if sample.error is not None
    ]
