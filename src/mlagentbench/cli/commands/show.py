"""`mlab show`: a run's steps in the terminal."""

import shlex
from typing import TYPE_CHECKING

import click
from rich.text import Text

from mlagentbench.cli.console import out, print_json, print_table
from mlagentbench.cli.options import json_option, select_runs
from mlagentbench.core import RunId, Step, Trace, UsageError, harmless, truncate

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment

_COLOURS = {"+": "blue", "-": "yellow"}


@click.command("show")
@click.argument("experiment", metavar="EXP[:NAME]")
@click.argument("run", required=False)
@click.option("--step", type=click.IntRange(1), help="Show one step whole.")
@click.option("--diff", is_flag=True, help="Show what became of the starter's code.")
@click.option("--prompt", type=click.IntRange(1), help="What the model saw at a step.")
@json_option
def command(
    *,
    experiment: str,
    run: str | None,
    step: int | None,
    diff: bool,
    prompt: int | None,
    as_json: bool,
) -> None:
    """Show what an agent did, step by step.

    EXP with several runs lists them; EXP with one run shows its steps. RUN is a run's
    id, or the name of its task, agent or model.
    """
    found, runs = select_runs(experiment, run)
    if len(runs) > 1 and not (as_json or step or diff or prompt):
        _print_runs(found, runs)
        return
    traces = {run: found.trace(run) for run in runs}
    if as_json:
        print_json([trace.model_dump(mode="json") for trace in traces.values()])
        return
    for one, trace in traces.items():
        if prompt is not None:
            _print_prompt(found, one, prompt)
        elif step is not None:
            _print_step(found, trace, step)
        elif diff:
            _print_diff(found, one, trace)
        else:
            _print_trace(trace)


def _print_runs(experiment: "Experiment", runs: list[RunId]) -> None:
    from mlagentbench.experiment import read_status
    from mlagentbench.report import STATUS_COLUMNS, status_rows

    chosen = set(map(str, runs))
    known = read_status(experiment).runs
    print_table(STATUS_COLUMNS, status_rows(run for run in known if run.run in chosen))
    click.echo(f"steps of a run: mlab show {shlex.quote(str(experiment.folder))} RUN")


def _print_trace(trace: Trace) -> None:
    click.echo(trace.run)
    rows = [_row(step) for step in trace.steps]
    print_table(["step", "action", "input", "ok", "validation", "seconds"], rows)
    click.echo(f"ending: {trace.end.ending if trace.end else 'not finished'}")
    if trace.end is not None and trace.end.reason:
        click.echo(f"reason: {harmless(trace.end.reason)}")
    if trace.end is not None and trace.end.traceback:
        click.echo(harmless(trace.end.traceback).rstrip())


def _row(step: Step) -> list[str]:
    given = " ".join(ascii(value)[1:-1] for value in step.input.values())
    return [
        str(step.step),
        harmless(step.action),
        truncate(given, 40),
        "yes" if step.ok else "no",
        f"{step.validation.value:.6g}" if step.validation else "",
        f"{step.seconds.total:.1f}",
    ]


def _print_step(experiment: "Experiment", trace: Trace, number: int) -> None:
    step = next((step for step in trace.steps if step.step == number), None)
    if step is None:
        last = len(trace.steps)
        raise UsageError(f"{trace.run} has no step {number}; its last is {last}")
    console = out()
    console.rule(Text(f"{trace.run}, step {number}: {harmless(step.action)}"))
    for name, value in (step.fields | step.input).items():
        console.print(f"{name}:\n{harmless(str(value))}", markup=False)
    console.rule("observation")
    console.print(harmless(step.told), markup=False)
    if step.observation_blob is not None:
        path = experiment.observation_path(step.observation_blob)
        if path.is_file():
            console.print(f"full observation: {path}", markup=False, soft_wrap=True)


def _print_diff(experiment: "Experiment", run: RunId, trace: Trace) -> None:
    from mlagentbench.experiment import same_task, starter_texts
    from mlagentbench.report import changes_of

    asked = next(task for task in experiment.spec.tasks if task.id == run.task)
    starter = starter_texts(same_task(asked))
    changes = changes_of(experiment, run, trace, starter)
    console = out()
    for file in changes.files:
        changed = f"{file.kind}, {file.added} lines more, {file.removed} less"
        console.rule(Text(f"{run}, {harmless(file.name)}: {changed}"))
        for line in file.lines:
            console.print(harmless(line), style=_COLOURS.get(line[:1]), markup=False)
    if not changes.files:
        console.print(f"{run}: the starter's code is as it was", markup=False)
    if changes.note:
        console.print(changes.note, markup=False)


def _print_prompt(experiment: "Experiment", run: RunId, step: int) -> None:
    from mlagentbench.run import prompts_of

    console = out()
    for prompt in prompts_of(experiment, run, step):
        console.rule(Text(f"{run}, step {step}: to the {prompt.role} model"))
        for message in prompt.messages:
            console.print(f"[{message.role}]\n{harmless(message.text)}", markup=False)
