"""`mlab check`: validate tasks."""

import click

from mlagentbench.api import check_task
from mlagentbench.cli.console import Screen, err
from mlagentbench.cli.options import (
    chosen_tasks,
    edition_option,
    json_option,
    task_arguments,
)
from mlagentbench.cli.output import print_json, say
from mlagentbench.tasks import Finding


@click.command("check")
@task_arguments
@edition_option
@json_option
def command(*, tasks: tuple[str, ...], every: bool, edition: str, as_json: bool) -> int:
    """Validate tasks: data, grader, starter, reference.

    Exits with 1 if a check fails.
    """
    documents, valid = {}, True
    for task in chosen_tasks(tasks, edition=edition, every=every):
        with Screen() as screen:
            found = check_task(task, progress=screen, observer=screen)
        valid = valid and all(finding.ok for finding in found)
        documents[task.name] = [finding.model_dump() for finding in found]
        if not as_json:
            _print(task.name, found)
    if as_json:
        print_json(documents)
    return 0 if valid else 1


def _print(name: str, findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        mark = "ok    " if finding.ok else "FAILED"
        say(f"{name}  {mark}  {finding.check}: {finding.detail}")
    if failed := sum(not finding.ok for finding in findings):
        err().print(f"{name}: {failed} of {len(findings)} checks failed")
