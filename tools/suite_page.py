"""Write docs/suite.md: what each task is, and how far an agent without a model gets.

    python tools/suite_page.py               from what was measured and the kept runs
    python tools/suite_page.py EXPERIMENT... keep those experiments' scorecards before

Nothing on the page is typed by hand: tasks come from their folders, scores from
measured.json, runs from docs/suite-runs.jsonl.
"""

import sys
from pathlib import Path

from mlagentbench.core.score import success_bar
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import Budget, Task
from mlagentbench.run.experiment import Experiment, last_attempts
from mlagentbench.tasks.catalogue import load_task, task_ids

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "suite.md"
RUNS = DOCS / "suite-runs.jsonl"
INTRODUCTION = """# The suite

Every task runs on one CPU core with no GPU, no account, and no download but from
package registries. *Starter* is what an agent is given, *reference* a good solution
that fits the budget; both are means over at least {n} seeds in the real sandbox, with
their standard deviation. *Bar* is what counts as success: 10 % better than the starter.
`mlab measure TASK` measures again, `mlab check TASK` says whether a task is sound.

"""
TUNED = """
## How far tuning gets

The agent `tuner` has no language model: it varies the number constants of the starter
and keeps what its validation score says is best. Here it had {steps} steps and
{minutes:g} minutes for a task.

    mlab run --all --agent tuner --max-steps {steps} --max-minutes {minutes:g}

"""
FOOT = "\nThis page is written by `python tools/suite_page.py`.\n"


def main() -> None:
    """Write the page, after keeping an experiment's scorecards where one is named."""
    experiments = [Experiment(Path(folder)) for folder in sys.argv[1:]]
    if experiments:
        keep(experiments)
    PAGE.write_text(page())


def keep(experiments: list[Experiment]) -> None:
    """Keep what was judged, with the budget it was asked for."""
    budget = experiments[0].asked.tasks[0].budget
    cards = [card for each in experiments for card in each.scorecards()[0]]
    lines = [budget.model_dump_json()]
    lines += [card.model_dump_json() for card in last_attempts(cards)]
    RUNS.write_text("".join(f"{line}\n" for line in lines))


def page() -> str:
    """Return the whole page."""
    tasks = [load_task(name) for name in task_ids()]
    measured = [task.measured.starter.n for task in tasks if task.measured]
    text = INTRODUCTION.format(n=min(measured))
    text += _table(TASK_COLUMNS, [_task_row(task) for task in tasks])
    return text + _tuned() + FOOT


TASK_COLUMNS = (
    *("task", "metric", "better", "data", "MB", "GB", "minutes"),
    *("starter", "bar", "reference"),
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
        _shown(success_bar(starter.mean, task.direction)),
        f"{_shown(reference.mean)} ± {reference.sd:.2g}",
    ]


def _shown(score: float) -> str:
    return f"{score:,.0f}" if abs(score) >= 1000 else f"{score:.4g}"


def _folder(task: Task) -> str:
    return f"src/mlagentbench/tasks/suite/{task.folder.name}"


def _tuned() -> str:
    if not RUNS.is_file():
        return ""
    first, *lines = RUNS.read_text().splitlines()
    budget = Budget.model_validate_json(first)
    cards = [Scorecard.model_validate_json(line) for line in lines]
    rows = [_run_row(card) for card in sorted(cards, key=lambda card: card.run)]
    succeeded = sum(card.success for card in cards)
    head = TUNED.format(steps=budget.steps, minutes=budget.minutes)
    summary = f"\n{succeeded} of {len(cards)} runs succeed.\n"
    columns = ("task", "ending", "score", "improvement", "success", "steps", "seconds")
    return head + _table(columns, rows) + summary


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
