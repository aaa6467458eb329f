"""Experiments' folders put together as what the report shows."""

from collections.abc import Iterable

from mlagentbench.cli.code import changes_of
from mlagentbench.cli.experiment_parts import Part, read_part, step_scores
from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Trace
from mlagentbench.report.diffs import CodeChanges
from mlagentbench.report.view import ExperimentView, LeftOut, task_facts
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.final_code import starter_texts

_NAMED_AT_MOST = 3


def view_of(experiments: list[Experiment]) -> ExperimentView:
    """Read experiments back; what cannot be read becomes a note, not a gap."""
    parts = [read_part(experiment) for experiment in experiments]
    owners = _owners(parts)
    own = [(part, owners[place]) for place, part in enumerate(parts)]
    cards = [card for part, runs in own for card in part.cards if card.run in runs]
    tasks = {name: task for part in parts for name, task in part.tasks.items()}
    left_out = list(_left_out(parts, owners))
    return ExperimentView(
        title=_title(experiments),
        created=max((card.created for card in cards), default=""),
        cards=tuple(cards),
        tasks=tuple(map(task_facts, tasks.values())),
        traces=tuple(trace for part, runs in own for trace in _traces(part, runs)),
        step_scores={
            run: scores
            for part, runs in own
            for run, scores in step_scores(part).items()
            if run in runs
        },
        packages=_packages(parts),
        notes=(*(note for part in parts for note in part.notes), *_twice(left_out)),
        asked=tuple(
            {str(run): run for part in parts for run in part.asked_runs}.values()
        ),
        left_out=tuple(left_out),
        code={run: code for part, runs in own for run, code in _code(part, runs)},
        budgets=_budgets(parts),
    )


def _owners(parts: list[Part]) -> list[set[str]]:
    """Give each run to the first experiment that holds it."""
    seen: set[str] = set()
    owners: list[set[str]] = []
    for part in parts:
        owners.append({str(run) for run in part.runs} - seen)
        seen |= owners[-1]
    return owners


def _left_out(parts: list[Part], owners: list[set[str]]) -> Iterable[LeftOut]:
    held = list(zip(parts, owners, strict=True))
    first = {run: part.name for part, own in held for run in own}
    for part, own in held:
        for run in map(str, part.runs):
            if run not in own:
                why = f"{part.name} holds it too; the one of {first[run]} is shown"
                yield LeftOut(run=run, why=why)


def _twice(left_out: list[LeftOut]) -> Iterable[str]:
    yield from (f"{one.run}: {one.why}" for one in left_out[:_NAMED_AT_MOST])
    more = len(left_out) - _NAMED_AT_MOST
    if more > 0:
        yield f"{more:,} more runs are in several experiments: see how runs ended"


def _traces(part: Part, runs: set[str]) -> Iterable[Trace]:
    return (trace for run, trace in part.traces.items() if run in runs)


def _code(part: Part, runs: set[str]) -> Iterable[tuple[str, CodeChanges]]:
    by_id = {task.id: task for task in part.tasks.values()}
    starters = {name: starter_texts(task) for name, task in by_id.items()}
    for run in part.runs:
        if str(run) in runs and str(run) in part.traces and run.task in starters:
            trace, starter = part.traces[str(run)], starters[run.task]
            yield str(run), changes_of(part.experiment, run, trace, starter)


def _budgets(parts: list[Part]) -> dict[str, tuple[Budget, ...]]:
    budgets: dict[str, tuple[Budget, ...]] = {}
    for part in parts:
        for name, budget in part.budgets.items():
            budgets[name] = (*budgets.get(name, ()), budget)
    return budgets


def _packages(parts: list[Part]) -> dict[str, str]:
    versions: dict[str, dict[str, None]] = {}
    for part in parts:
        for package, version in (part.asked.packages if part.asked else {}).items():
            versions.setdefault(package, {})[version] = None
    return {package: " and ".join(found) for package, found in versions.items()}


def _title(experiments: list[Experiment]) -> str:
    if len(experiments) == 1:
        return experiments[0].folder.absolute().name
    return f"{len(experiments)} experiments"
