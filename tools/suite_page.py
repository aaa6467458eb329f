"""Write docs/suite.md: the tasks, and the scores of agents without a model.

    python tools/suite_page.py               from what was measured and the kept runs
    python tools/suite_page.py EXPERIMENT... keep those experiments' scorecards before

Nothing on the page is typed by hand: tasks come from their folders, scores from
measured.json, runs from docs/suite-runs.jsonl.
"""

import sys
from pathlib import Path

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.success import success_threshold
from mlagentbench.core.task import Budget, Task
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import last_attempts
from mlagentbench.tasks.load import load_task, task_ids

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "suite.md"
RUNS = DOCS / "suite-runs.jsonl"
INTRODUCTION = """# Tasks

Every task runs on one CPU core without a GPU. Its data comes from package registries or
is generated, and you need no account.

- *Data* is real, a substitute (other real data of the same kind), semi-synthetic (made
  from real data) or generated.
- *Starter* is the code that an agent is given, and *reference* is a good solution
  within the budget. Both are means over at least {n} seeds in the real sandbox, with
  their standard deviation.
- *Threshold* is the score that counts as success: 10 % better than the starter.

`mlab measure TASK` measures starter and reference again. `mlab check TASK` validates a
task.

"""
SECTIONS = {
    "tuner": """
## Baseline: tuning constants

The agent `tuner` has no language model. It varies the number constants of the starter
and submits the script with the best validation score. Here it had {steps} steps and
{minutes:g} minutes for a task.

    mlab run --all --agent tuner --max-minutes {minutes:g} --parallel 2

""",
    "reference": """
## Upper baseline: the reference

The agent `reference` submits the reference solution of each task, executed and graded
like any other.

    mlab run --all --agent reference --parallel 2

""",
}
FOOT = "\nThis page is written by `python tools/suite_page.py`.\n"


def main() -> None:
    """Write the page, after keeping an experiment's scorecards where one is named."""
    experiments = [Experiment(Path(folder)) for folder in sys.argv[1:]]
    if experiments:
        keep(experiments)
    PAGE.write_text(page())


class Kept(Record):
    """One run that the page shows."""

    budget: Budget
    card: Scorecard


def keep(experiments: list[Experiment]) -> None:
    """Keep what was judged, in place of what was kept of the same agents."""
    new = [run for experiment in experiments for run in _judged(experiment)]
    agents = {run.card.agent for run in new}
    old = [run for run in kept() if run.card.agent not in agents]
    RUNS.write_text("".join(f"{run.model_dump_json()}\n" for run in [*old, *new]))


def _judged(experiment: Experiment) -> list[Kept]:
    budgets = {task.id: task.budget for task in experiment.spec.tasks}
    cards = last_attempts(experiment.scorecards)
    return [Kept(budget=budgets[card.task], card=card) for card in cards]


def kept() -> list[Kept]:
    """Return the runs that were kept."""
    lines = RUNS.read_text().splitlines() if RUNS.is_file() else []
    return [Kept.model_validate_json(line) for line in lines]


def page() -> str:
    """Return the whole page."""
    tasks = [load_task(name) for name in task_ids()]
    measured = [task.measured.starter.n for task in tasks if task.measured]
    text = INTRODUCTION.format(n=min(measured))
    text += _table(TASK_COLUMNS, [_task_row(task) for task in tasks])
    return text + "".join(map(_section, SECTIONS)) + FOOT


TASK_COLUMNS = (
    *("task", "metric", "better", "data", "MB", "GB", "minutes"),
    *("starter", "threshold", "reference"),
)


def _task_row(task: Task) -> list[str]:
    row = [
        f"[{task.id}](../{_folder(task)}/README.md)",
        task.metric,
        task.direction.value,
        f"{task.data.data.value}: {task.data.summary}",
        f"{task.data.size_mb:g}",
        f"{task.data.memory_gb:g}",
        f"{task.budget.minutes:g}",
    ]
    if task.measured is None:
        return [*row, "not measured", "-", "-"]
    starter, reference = task.measured.starter, task.measured.reference
    return [
        *row,
        f"{_shown(starter.mean)} ± {starter.sd:.2g}",
        _shown(success_threshold(starter.mean, task.direction)),
        f"{_shown(reference.mean)} ± {reference.sd:.2g}",
    ]


def _shown(score: float) -> str:
    return f"{score:,.0f}" if abs(score) >= 1000 else f"{score:.4g}"


def _folder(task: Task) -> str:
    return f"src/mlagentbench/tasks/suite/{task.folder.name}"


def _section(agent: str) -> str:
    runs = [run for run in kept() if run.card.agent == agent]
    if not runs:
        return ""
    cards = sorted((run.card for run in runs), key=lambda card: card.run.casefold())
    budget = runs[0].budget
    head = SECTIONS[agent].format(steps=budget.steps, minutes=budget.minutes)
    columns = ("task", "ending", "score", "improvement", "success", "steps", "seconds")
    succeeded = sum(card.success for card in cards)
    summary = f"\n{succeeded} of {len(cards)} runs succeed.\n"
    return head + _table(columns, [_run_row(card) for card in cards]) + summary


def _run_row(card: Scorecard) -> list[str]:
    return [
        card.task,
        card.ending.value,
        "-" if card.score is None else _shown(card.score),
        "-" if card.improvement is None else f"{card.improvement:+.1%}",
        "yes" if card.success else "no",
        str(card.steps),
        f"{card.seconds.total:.0f}",
    ]


def _table(header: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [list(header), ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    main()
