"""The report and the summary that commands give of a finished experiment."""

import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from mlagentbench.cli.console import err, print_json
from mlagentbench.core import BenchError
from mlagentbench.experiment import (
    Experiment,
    last_attempts,
    missing_opinions,
    same_task,
)
from mlagentbench.report import (
    ExperimentView,
    TaskFacts,
    summary_lines,
    task_facts,
    view_of,
    write_report,
)


def save_report(experiment: Experiment, *, open_it: bool) -> Path:
    """Write the experiment's report, and show it if `open_it` is set."""
    write_report(view_of([experiment]), experiment.report)
    # Without a browser this says so by returning False; the path is printed anyway.
    if open_it and not webbrowser.open(experiment.report.absolute().as_uri()):
        err().print("no browser could be opened; open the report yourself")
    return experiment.report


def print_outcome(experiment: Experiment, report: Path, *, as_json: bool) -> int:
    """Print the scorecards and return the exit code."""
    cards, warnings = experiment.scorecards, experiment.warnings
    final = last_attempts(cards)
    for warning in [*warnings, *missing_opinions(experiment)]:
        err().print(warning, markup=False)
    if as_json:
        documents = [card.model_dump(mode="json") for card in cards]
        print_json({"experiment": str(experiment.folder), "scorecards": documents})
    else:
        tasks = tuple(_known_tasks(experiment))
        view = ExperimentView(title="", created="", cards=tuple(final), tasks=tasks)
        for card in final:
            click.echo("\n".join(summary_lines(card, view.facts(card))))
        click.echo(f"report: {report}")
    return 0 if all(card.ending.counts for card in final) else 1


def _known_tasks(experiment: Experiment) -> Iterator[TaskFacts]:
    """Yield facts about the tasks that still exist, without reading traces."""
    with suppress(BenchError):
        for asked in experiment.spec.tasks:
            with suppress(BenchError):
                yield task_facts(same_task(asked))
