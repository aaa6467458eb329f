"""`mlab grade`: scorecards for submissions that were made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import err, print_table
from mlagentbench.cli.options import edition_option, json_option, out_option
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import UsageError, first_lines, harmless
from mlagentbench.tasks import load_task

if TYPE_CHECKING:
    from collections import Counter

    from mlagentbench.core import Scorecard, Task
    from mlagentbench.run import OutsideMeasurement


@click.command("grade")
@click.argument("task", metavar="TASK")
@click.argument(
    "submissions",
    nargs=-1,
    required=True,
    metavar="SUBMISSION...",
    type=click.Path(path_type=Path),
)
@click.option(
    "--as",
    "name",
    metavar="NAME",
    help="Name of who made the submissions. Default: the name of each file or folder.",
)
@click.option(
    "--validation",
    is_flag=True,
    help="Measure validation predictions instead of grading on held-out data.",
)
@edition_option
@out_option
@json_option
def command(
    *,
    task: str,
    submissions: tuple[Path, ...],
    name: str | None,
    validation: bool,
    edition: str,
    out: Path,
    as_json: bool,
) -> int:
    """Grade submissions that were made elsewhere.

    SUBMISSION is a folder with the files that the task asks for, or the file itself
    if it is only one. Scorecards are written to an experiment below --out, with the
    origin `external`. Exits with 1 if a submission has no score.

    With --validation, SUBMISSION holds predictions for the validation rows instead, or
    the code if code is submitted. No experiment is written. Every score is a query of
    hidden data: queries and gradings are counted by name below --out, and shown.
    """
    found = load_task(task, edition=edition)
    if name is not None and not name.strip():
        raise UsageError("--as needs a name that is not empty")
    for path in submissions:
        # A link whose target is gone is a failed submission, not a wrong command.
        if not (path.exists() or path.is_symlink()):
            raise UsageError(f"there is no file or folder {path}")

    from mlagentbench.cli.console import Screen
    from mlagentbench.cli.outcome import save_report
    from mlagentbench.core import default_cache
    from mlagentbench.run import count_gradings, grade_outside, measure_outside

    paths = list(dict.fromkeys(submissions))
    if validation:
        with Screen() as screen:
            measured = measure_outside(
                found, paths, name=name, out=out, cache=default_cache(), progress=screen
            )
        if as_json:
            documents = [one.model_dump(mode="json") for one in measured]
            print_json({"task": found.name, "measurements": documents})
        else:
            _print_measurements(found, measured)
        return 0 if all(one.value is not None for one in measured) else 1
    with Screen() as screen:
        experiment = grade_outside(
            found, paths, name=name, out=out, cache=default_cache(), progress=screen
        )
    report = save_report(experiment, open_it=False)
    cards = experiment.scorecards
    counts = count_gradings(out, found, "held-out")
    for warning in experiment.warnings:
        err().print(warning)
    if as_json:
        documents = [card.model_dump(mode="json") for card in cards]
        print_json(
            {
                "experiment": str(experiment.folder),
                "scorecards": documents,
                "gradings": {card.agent: counts[card.agent] for card in cards},
            }
        )
    else:
        _print(found, cards, counts)
        say(f"report: {report}")
    return 0 if all(card.score is not None for card in cards) else 1


def _print_measurements(task: "Task", measured: "list[OutsideMeasurement]") -> None:
    """Print one row per measurement, in the order given."""
    from mlagentbench.report import number, with_unit

    rows = []
    for one in measured:
        score, interval = "-", "-"
        if one.value is not None:
            score = with_unit(one.value.value, task.unit)
            if one.value.low is not None and one.value.high is not None:
                interval = f"{number(one.value.low)} to {number(one.value.high)}"
        why = _one_line(one.problem or "")
        rows.append([harmless(one.name), score, interval, str(one.queries), why])
    columns = [f"validation {task.metric}", "95 % interval", "queries", "problem"]
    print_table(["submission", *columns], rows)


def _one_line(reason: str) -> str:
    shown = harmless(first_lines(reason, lines=1, characters=200))
    return shown.replace("\n", " ")


def _print(task: "Task", cards: "list[Scorecard]", counts: "Counter[str]") -> None:
    """Print one row per submission, the best first."""
    from mlagentbench.report import percent, with_unit

    def badness(card: "Scorecard") -> tuple[bool, float]:
        return card.score is None, -task.direction.sign * (card.score or 0.0)

    several = len({card.seed for card in cards}) > 1
    rows = []
    for card in sorted(cards, key=badness):
        why = card.submission_error or ("" if card.ending.counts else card.reason)
        why = why or card.baseline_error or ""
        rows.append(
            [
                harmless(f"{card.agent}, {card.seed}" if several else card.agent),
                "-" if card.score is None else with_unit(card.score, task.unit),
                "-" if card.score is None else percent(card.improvement),
                "unknown" if card.baseline_error else "yes" if card.success else "no",
                str(counts[card.agent]),
                _one_line(why),
            ]
        )
    columns = ["improvement", "success", "gradings", "problem"]
    print_table(["submission", task.metric, *columns], rows)
