"""Work done elsewhere: its workspace, and the grading of its submissions.

Submissions that were made elsewhere become an experiment with one run each, so that
score, report and compare read them like any other. No agent ran: their traces have an
end and no steps.

Validation predictions are measured without an experiment. Each score on hidden data,
validation or held-out, is a line of `.gradings.jsonl` beside the experiments, so that
the number of attempts is known.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from mlagentbench.core import (
    AgentEnvName,
    End,
    Ending,
    Origin,
    Progress,
    Record,
    RecordError,
    RunId,
    Spent,
    Task,
    UsageError,
    append_line,
    clean_name,
    recording,
    require_linux,
    scratch_folder,
    utc_now,
    writing_to,
)
from mlagentbench.environment import (
    AgentEnv,
    copy_workspace,
    ensure_task_env,
    require_isolation,
    save_outside_submission,
)
from mlagentbench.experiment import (
    NO_MODEL,
    Experiment,
    Plan,
    TraceWriter,
    experiment_folder,
)
from mlagentbench.grading import grade_saved
from mlagentbench.run.job import visible_files
from mlagentbench.run.make_jobs import experiment_spec
from mlagentbench.run.ready import Ready
from mlagentbench.run.rescore import rescore_experiment
from mlagentbench.run.validation import Measured, measured
from mlagentbench.tasks import Prepared, prepare_task, problem

PROBLEM = "problem.md"
_NOT_NEEDED = "none"


def write_workspace(task: Task, folder: Path, cache: Path, progress: Progress) -> None:
    """Write the files that an agent starts from, and the problem text it is given."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder; choose another path")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; choose a new or an empty folder")
    text = problem(task)
    prepared = prepare_task(task, cache, progress)
    with recording(folder):
        folder.mkdir(parents=True, exist_ok=True)
        copy_workspace(task.part("starter"), visible_files(task, prepared), folder)
        (folder / PROBLEM).write_text(text, encoding="utf-8")


def grade_outside(
    task: Task,
    paths: Sequence[Path],
    *,
    name: str | None,
    out: Path,
    cache: Path,
    progress: Progress,
) -> Experiment:
    """Grade submissions that were made elsewhere; return their experiment.

    They are the runs of `name`, with one seed each. Without a name, each submission is
    named after its file or folder.
    """
    require_linux("grading")
    runs = _runs(task, paths, name)
    ready, limits = _make_gradable(task, cache, progress)
    source = str(task.folder)
    plan = Plan(tasks=(source,), agent="external", edition=task.edition, out=out)
    spec = experiment_spec(plan, [ready], limits).model_copy(
        update={
            "agent": name or "external",
            "origin": Origin.EXTERNAL,
            "outside_runs": tuple(runs),
            "seeds": tuple(dict.fromkeys(run.seed for run in runs)),
            "sandbox": _NOT_NEEDED if task.grading is None else "bwrap",
        }
    )
    experiment = Experiment(experiment_folder(plan), plan.named)
    with experiment.lock(new=True):
        experiment.create(spec)
        for run, path in zip(runs, paths, strict=True):
            with recording(experiment.folder):
                saved = experiment.submission_folder(run)
                save_outside_submission(task, path, saved)
            with TraceWriter(experiment.trace_path(run)) as trace:
                trace.append(
                    End(
                        run=str(run),
                        ending=Ending.SUBMITTED,
                        reason="made elsewhere",
                        spent=Spent(),
                        seconds=0,
                        at=utc_now(),
                    )
                )
    rescore_experiment(experiment, cache, progress)
    for card in experiment.scorecards:
        if card.score is not None:
            _record(out, task, card.agent, "held-out", card.score)
    return experiment


Split = Literal["validation", "held-out"]


class OutsideMeasurement(Measured):
    """A validation score of work done elsewhere, or the reason why there is none."""

    name: str
    """Who made the submission."""
    queries: int
    """Validation scores of that name so far, this one included."""


def measure_outside(
    task: Task,
    paths: Sequence[Path],
    *,
    name: str | None,
    out: Path,
    cache: Path,
    progress: Progress,
) -> list[OutsideMeasurement]:
    """Measure validation predictions made elsewhere, or code, as queries of a name."""
    require_linux("grading")
    files = task.submission
    if task.grading is None:
        if task.validation is None:
            raise UsageError(f"task {task.id} has no validation split to measure on")
        files = (task.validation.answers,)
    asked = task.model_copy(update={"submission": files})
    names = [run.agent for run in _runs(asked, paths, name)]
    prepared = _make_gradable(task, cache, progress)[0].prepared
    found = []
    for who, path in zip(names, paths, strict=True):
        with scratch_folder() as scratch:
            saved = scratch / "submission"
            save_outside_submission(asked, path, saved)
            grading = grade_saved(task, prepared, saved, split="validation")
            one = measured(task, asyncio.run(grading))
        if one.value is not None:
            _record(out, task, who, "validation", one.value.value)
        queries = count_gradings(out, task, "validation")[who]
        found.append(
            OutsideMeasurement(
                name=who, value=one.value, problem=one.problem, queries=queries
            )
        )
    return found


class GradingLine(Record):
    """One score of work done elsewhere: a line of `.gradings.jsonl`."""

    at: str
    task: str
    """`task@version/edition`."""
    name: str
    """Who made the submission."""
    split: Split
    score: float


def count_gradings(out: Path, task: Task, split: Split) -> Counter[str]:
    """Count the recorded scores of a task by the name of who made the submission."""
    path = out / _GRADINGS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    try:
        known = [GradingLine.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise RecordError(f"{path} is damaged; move it away to start again") from error
    return Counter(
        line.name for line in known if (line.task, line.split) == (task.name, split)
    )


_GRADINGS = ".gradings.jsonl"
"""Hidden, so that `runs/*` names experiments only."""


def _record(out: Path, task: Task, name: str, split: Split, score: float) -> None:
    line = GradingLine(
        at=utc_now(), task=task.name, name=name, split=split, score=score
    )
    append_line(out / _GRADINGS, line.model_dump_json())


def _make_gradable(task: Task, cache: Path, progress: Progress) -> tuple[Ready, str]:
    """Prepare what grading needs: files need no sandbox and no environment."""
    envs: dict[AgentEnvName, AgentEnv] = {}
    limits = _NOT_NEEDED
    with writing_to(cache):
        if task.grading is not None:
            limits = str(require_isolation().limits)
            name = task.grading.agent_env
            envs[name] = ensure_task_env(cache, task, name, progress)
        prepared: Prepared = prepare_task(task, cache, progress)
    return Ready(task, prepared, envs), limits


def _runs(task: Task, paths: Sequence[Path], name: str | None) -> list[RunId]:
    if name is not None:
        agents = [(clean_name(name), seed) for seed in range(len(paths))]
    else:
        agents = [(one, 0) for one in submission_names(task, paths)]
    return [
        RunId(task=task.id, agent=agent, model=NO_MODEL, seed=seed)
        for agent, seed in agents
    ]


def submission_names(task: Task, paths: Sequence[Path]) -> list[str]:
    """Name each submission after its file or folder; no two names are equal."""
    places = [
        path.parent if path.name in task.submission else path
        for path in (path.absolute() for path in paths)
    ]
    names = [_name(place) for place in places]
    if len(set(names)) < len(names):
        names = [
            f"{clean_name(place.parent.name)}/{name}"
            for place, name in zip(places, names, strict=True)
        ]
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _name(place: Path) -> str:
    return clean_name(place.name if place.is_dir() else place.stem) or "submission"
