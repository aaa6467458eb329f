"""The report and the summary that commands give of a finished experiment."""

import shlex
import webbrowser
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mlagentbench.cli.console import err, print_table
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import (
    BenchError,
    Ending,
    Scorecard,
    stale_baselines,
    tell_apart,
)
from mlagentbench.experiment import (
    Experiment,
    last_attempts,
    missing_opinions,
)
from mlagentbench.report import (
    OUTCOME_COLUMNS,
    ExperimentView,
    TaskFacts,
    failure_lines,
    outcome_rows,
    summary_lines,
    task_facts,
    view_of,
    write_report,
)
from mlagentbench.tasks import find_recorded

if TYPE_CHECKING:
    from mlagentbench.study import Study


def save_report(experiment: Experiment, *, open_it: bool) -> Path:
    """Write the experiment's report, and show it if `open_it` is set."""
    write_report(view_of([experiment]), experiment.report)
    if open_it:
        _open(experiment.report)
    return experiment.report


def save_study_report(study: "Study", *, open_it: bool) -> Path:
    """Write the report of a study in a local folder, and show it if asked to."""
    from mlagentbench.study import view_of_results

    page = Path(study.address) / "report.html"
    write_report(view_of_results([study]), page)
    if open_it:
        _open(page)
    return page


def _open(page: Path) -> None:
    # Without a browser this says so by returning False; the path is printed anyway.
    if not webbrowser.open(page.absolute().as_uri()):
        err().print("cannot open a browser; open the report yourself")


def print_outcome(*experiments: Experiment, as_json: bool) -> int:
    """Print the scorecards and return the exit code.

    Several experiments are one list of documents, so that `--json` prints one.
    """
    documents = []
    final = []
    for experiment in experiments:
        cards = experiment.scorecards
        last = list(tell_apart(last_attempts(cards)))
        final += last
        left = [*_not_started(experiment, last), *stale_baselines(last)]
        for note in [*experiment.warnings, *missing_opinions(experiment), *left]:
            err().print(note, soft_wrap=True)
        dumped = [card.model_dump(mode="json") for card in cards]
        documents.append({"experiment": str(experiment.folder), "scorecards": dumped})
        if not as_json:
            _print_summary(experiment, last)
    if as_json:
        print_json(documents[0] if len(documents) == 1 else documents)
    return 0 if all(card.ending.counts for card in final) else 1


def print_study(study: "Study", *, as_json: bool, report: Path | None = None) -> int:
    """Print the results of a study; return 1 if a cell of its plan has none."""
    cards, missing, warnings = study.results()
    for note in [*warnings, *stale_baselines(cards)]:
        err().print(note, soft_wrap=True)
    if as_json:
        print_json(
            {
                "study": study.address,
                "missing": {run.experiment: run.why for run in missing},
                "scorecards": [card.model_dump(mode="json") for card in cards],
            }
        )
        return 1 if missing else 0
    if cards:
        _print_table(list(tell_apart(cards)), tuple(_tasks_of(study)))
    address = shlex.quote(study.address)
    if missing:
        say(f"cells: mlab status {address}")
        say(f"continue: mlab study {address}{study.named.options}")
    say(f"report: {report or f'mlab report {address}'}")
    return 1 if missing else 0


def _tasks_of(study: "Study") -> Iterator[TaskFacts]:
    asked = {(one.task, one.edition, one.task_digest): None for one in study.cells}
    for source, edition, digest in asked:
        with suppress(BenchError):
            task = find_recorded(source, edition, digest, study.named.task_paths)
            yield task_facts(task)


def _print_table(cards: list[Scorecard], tasks: tuple[TaskFacts, ...]) -> None:
    view = ExperimentView(title="", created="", cards=tuple(cards), tasks=tasks)
    print_table(
        OUTCOME_COLUMNS,
        outcome_rows(view),
        prose=["levels", "mean test score", "endings"],
        optional=["mean improvement", "time", "cost"],
    )
    for line in failure_lines(cards):
        say(line)


def _print_summary(experiment: Experiment, cards: list[Scorecard]) -> None:
    tasks = tuple(_known_tasks(experiment))
    if len(cards) > 1:
        _print_table(cards, tasks)
        say(f"runs: mlab show {shlex.quote(str(experiment.folder))}")
    else:
        view = ExperimentView(title="", created="", cards=tuple(cards), tasks=tasks)
        for card in cards:
            say("\n".join(summary_lines(card, view.facts(card))))
    say(f"report: {experiment.report}")
    if any(card.ending is Ending.CRASHED for card in cards):
        folder = shlex.quote(str(experiment.folder))
        named = experiment.named.options
        err().print(
            f"`mlab show {folder}` prints the traceback of a crash,"
            f" `mlab resume {folder} --crashed{named}` runs crashed runs again",
            soft_wrap=True,
        )


def _not_started(experiment: Experiment, cards: list[Scorecard]) -> list[str]:
    """Return a sentence about runs that a total limit kept from starting."""
    stopped = [card for card in cards if card.ending is Ending.INTERRUPTED]
    reasons = Counter(card.reason for card in stopped if card.reason is not None)
    folder = shlex.quote(str(experiment.folder))
    return [
        f"{count} run{'s' if count > 1 else ''} {reason}; continue with"
        f" `mlab resume {folder}{experiment.named.options}`"
        for reason, count in reasons.items()
    ]


def _known_tasks(experiment: Experiment) -> Iterator[TaskFacts]:
    """Yield facts about the tasks that still exist, without reading traces."""
    with suppress(BenchError):
        for asked in experiment.spec.tasks:
            with suppress(BenchError):
                yield task_facts(experiment.task(asked))
