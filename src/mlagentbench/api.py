"""Functions of `import mlagentbench as ml`.

Each is a thin call into the folder that does the work. Only functions that start runs
import the engine, so that reading results stays fast. `ml.run` and `ml.resume` are in
`mlagentbench.run.pipeline`, `ml.run_study` and `ml.open_study` in `mlagentbench.study`.
"""

import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mlagentbench.core import (
    Harness,
    NullObserver,
    Progress,
    RunId,
    RunObserver,
    SandboxUsed,
    Scorecard,
    Silent,
    Task,
    Trace,
    UsageError,
    default_cache,
    tell_apart,
    utc_now,
    who,
)
from mlagentbench.evaluation import (
    AgentRuns,
    Comparison,
    EvaluationContext,
    Verdict,
    compare_all,
    evaluate_run,
)
from mlagentbench.experiment import Experiment, Named, last_attempts
from mlagentbench.study import Study, view_of_results
from mlagentbench.tasks import Finding, task_ids, write_checks
from mlagentbench.tasks import check_task as _check_task


def list_tasks() -> list[str]:
    """Return the ids of all tasks of the suite."""
    return task_ids()


def check_task(
    task: Task,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    observer: RunObserver | None = None,
) -> tuple[Finding, ...]:
    """Validate a task: data, grader, starter and reference.

    If every check passes, the result is recorded in the task's `checks.json`.
    """
    from mlagentbench.run import PipelineBench, make_ready

    cache = cache or default_cache()
    with tempfile.TemporaryDirectory(prefix="mlab-check-") as scratch:
        bench = PipelineBench(cache, observer or NullObserver())
        ready = make_ready(task, cache, progress or Silent())
        findings = _check_task(task, ready.prepared, bench, scratch=Path(scratch))
    if all(finding.ok for finding in findings):
        write_checks(task, findings)
    return findings


def open_experiment(
    folder: str | Path,
    *,
    task_paths: Sequence[str | Path] = (),
    agents: Sequence[str] = (),
    model_args: Mapping[str, Any] | None = None,
) -> Experiment:
    """Open an experiment's folder, which may come from anybody.

    Name the tasks and agents outside this package, and the model arguments, that its
    runs may use when they are graded again or resumed.
    """
    if not (Path(folder) / "experiment.json").is_file():
        raise UsageError(f"{folder} is not an experiment: no experiment.json")
    named = Named(
        task_paths=tuple(map(Path, task_paths)),
        agents=tuple(agents),
        model_args=None if model_args is None else dict(model_args),
    )
    return Experiment(Path(folder), named)


def rescore(
    experiment: Experiment,
    *,
    steps: bool = False,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> list[Scorecard]:
    """Grade saved submissions again, after every step too if `steps` is true."""
    from mlagentbench.run import rescore_experiment

    cache, progress = cache or default_cache(), progress or Silent()
    return rescore_experiment(experiment, cache, progress, steps=steps)


def evaluate(
    task: Task, trace: Trace, verdict: Verdict, *, run: RunId | None = None
) -> Scorecard:
    """Turn a trace and a verdict into a scorecard; nothing is read or written.

    `run` is needed only if the name of the agent or the model contains a colon.
    """
    if run is None:
        name, *middle, seed = trace.run.split(":")
        if len(middle) != 2:
            raise UsageError(f"pass run=RunId(...): {trace.run} is ambiguous")
        run = RunId(task=name, agent=middle[0], model=middle[1], seed=int(seed))
    context = EvaluationContext(
        sandbox=SandboxUsed(provider="unknown", limits="unknown"),
        harness=Harness(
            version=version("mlagentbench"), inspect_ai=version("inspect_ai")
        ),
        created=utc_now(),
    )
    return evaluate_run(task, run, trace, verdict, context)


def compare(a: Experiment | Study, b: Experiment | Study) -> Comparison:
    """Compare experiments or studies of one agent each on the tasks they share."""
    cards = [
        last_attempts(one.scorecards) if isinstance(one, Experiment) else one.scorecards
        for one in (a, b)
    ]
    apart = tell_apart([*cards[0], *cards[1]])
    middle = len(cards[0])
    first, second = _agent_runs(a, apart[:middle]), _agent_runs(b, apart[middle:])
    if first.name == second.name:
        first = first.model_copy(update={"name": f"{first.name} in {_place(a)}"})
        second = second.model_copy(update={"name": f"{second.name} in {_place(b)}"})
    return compare_all([first, second])[0]


def write_report(results: Sequence[Experiment | Study], path: str | Path) -> Path:
    """Write one HTML page about experiments and studies."""
    from mlagentbench.report import write_report

    return write_report(view_of_results(results), Path(path))


def _place(results: Experiment | Study) -> str:
    if isinstance(results, Experiment):
        return str(results.folder)
    return results.address


def _agent_runs(results: Experiment | Study, cards: Sequence[Scorecard]) -> AgentRuns:
    names = {who(card) for card in cards}
    if len(names) != 1:
        raise UsageError(
            f"{_place(results)} has runs of {len(names)} agents; compare experiments"
            " of one agent each, or use `mlab compare EXP:NAME EXP:NAME`"
        )
    return AgentRuns(name=names.pop(), cards=tuple(cards), units=results.units)
