"""`mlab show`: a run's steps in the terminal."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import (
    out,
    print_heading,
    print_status,
    print_table,
)
from mlagentbench.cli.options import (
    is_study,
    json_option,
    named_agent_option,
    select_runs,
    split,
    task_path_option,
)
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import RunId, Step, Trace, UsageError, harmless, truncate
from mlagentbench.report import number

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment, Named

_COLOURS = {"+": "blue", "-": "yellow"}


@click.command("show")
@click.argument("experiment", metavar="EXP[:NAME]")
@click.argument("run", required=False)
@click.option(
    "--step", metavar="K", type=click.IntRange(1), help="Show step K in full."
)
@click.option("--diff", is_flag=True, help="Show the diff from the starter code.")
@click.option(
    "--prompt",
    metavar="K",
    type=click.IntRange(1),
    help="Print the prompt sent to the model at step K.",
)
@task_path_option
@named_agent_option
@json_option
def command(
    *,
    experiment: str,
    run: str | None,
    step: int | None,
    diff: bool,
    prompt: int | None,
    task_path: tuple[Path, ...],
    agents: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the runs of an experiment, or the steps of a run.

    Lists the runs if EXP has several, and the steps if it has one. RUN is the id of a
    run, or the name of its task, agent or model. EXP may also be a study, and RUN a
    cell of it. --diff and --prompt need the code of a task or an agent outside this
    package, which you name with --task-path and --agent.
    """
    from mlagentbench.experiment import Named

    named = Named(task_paths=task_path, agents=agents)
    is_list = not (as_json or step or diff or prompt)
    address, name = split(experiment)
    if is_study(address):
        chosen = _cells(address, run or name, named, is_list=is_list)
    else:
        found, runs = select_runs(experiment, run, named)
        if is_list and len(runs) > 1:
            _print_runs(found, runs)
            return
        chosen = [(found, one) for one in runs]
    if as_json:
        traces = (found.trace(one) for found, one in chosen)
        print_json([trace.model_dump(mode="json") for trace in traces])
        return
    for found, one in chosen:
        trace = found.trace(one)
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
    from mlagentbench.report import status_table

    chosen = set(map(str, runs))
    known = read_status(experiment).runs
    print_status(status_table(run for run in known if run.run in chosen))
    say(f"steps of a run: mlab show {shlex.quote(str(experiment.folder))} RUN")


def _cells(
    address: str, name: str, named: "Named", *, is_list: bool
) -> "list[tuple[Experiment, RunId]]":
    """Return the runs of a study that NAME picks; print a list if there are several."""
    from mlagentbench.study import cell_table, open_study

    study = open_study(address)
    study.named = named
    cells = [
        cell
        for cell in study.cells
        if name in ("", cell.id, str(cell.run), *(vars(cell.run).values()))
    ]
    if not cells:
        raise UsageError(
            f"{address} has no cell, run, task, agent or model '{name}'; run `mlab show"
            f" {shlex.quote(address)}` to list the cells"
        )
    if is_list and len(cells) > 1:
        chosen = {cell.id for cell in cells}
        print_status(
            cell_table(cell for cell in study.status().cells if cell.cell in chosen)
        )
        say(f"steps of a run: mlab show {shlex.quote(address)} CELL")
        return []
    published = study.store.published()
    found = [cell for cell in cells if cell.id in published]
    if not found:
        raise UsageError(
            f"no result of {cells[0].id} is published; run `mlab status"
            f" {shlex.quote(address)}` to see how far the study is"
        )
    return [(study.experiment(cell.id), cell.run) for cell in found]


def _print_trace(trace: Trace) -> None:
    say(trace.run)
    rows = [_row(step) for step in trace.steps]
    columns = ["step", "action", "input", "ok", "validation", "seconds"]
    print_table(columns, rows, prose=["input"])
    say(f"ending: {trace.end.ending if trace.end else 'not finished'}")
    if trace.end is not None and trace.end.reason:
        say(f"reason: {harmless(trace.end.reason)}")
    if trace.end is not None and trace.end.traceback:
        say(harmless(trace.end.traceback).rstrip())


def _row(step: Step) -> list[str]:
    given = " ".join(ascii(value)[1:-1] for value in step.input.values())
    return [
        str(step.step),
        harmless(step.action),
        truncate(given, 40),
        "yes" if step.ok else "no",
        number(step.validation.value) if step.validation else "",
        f"{step.seconds.total:.1f}",
    ]


def _print_step(experiment: "Experiment", trace: Trace, wanted: int) -> None:
    step = next((step for step in trace.steps if step.step == wanted), None)
    if step is None:
        last = len(trace.steps)
        raise UsageError(f"{trace.run} has no step {wanted}; its last step is {last}")
    console = out()
    title = f"{trace.run}, step {wanted}: {harmless(step.action)}"
    print_heading(console, title)
    for name, value in (step.fields | step.input).items():
        console.print(f"{name}:\n{harmless(str(value))}")
    print_heading(console, "observation")
    console.print(harmless(step.told))
    if step.observation_blob is not None:
        path = experiment.observation_path(step.observation_blob)
        if path.is_file():
            console.print(f"full observation: {path}", soft_wrap=True)


def _print_diff(experiment: "Experiment", run: RunId, trace: Trace) -> None:
    from mlagentbench.experiment import starter_texts
    from mlagentbench.report import changes_of

    asked = next(task for task in experiment.spec.tasks if task.id == run.task)
    starter = starter_texts(experiment.task(asked))
    changes = changes_of(experiment, run, trace, starter)
    console = out()
    for file in changes.files:
        changed = f"{file.kind}, {file.added} lines added, {file.removed} removed"
        print_heading(console, f"{run}, {harmless(file.name)}: {changed}")
        for line in file.lines:
            console.print(harmless(line), style=_COLOURS.get(line[:1]))
    if not changes.files:
        console.print(f"{run}: no changes to the starter code")
    if changes.note:
        console.print(changes.note)


def _print_prompt(experiment: "Experiment", run: RunId, step: int) -> None:
    from mlagentbench.run import prompts_of

    console = out()
    prompts = prompts_of(experiment, run, step)
    if not prompts:
        asked = (one for one in experiment.trace(run).steps if one.calls)
        steps = ", ".join(str(one.step) for one in asked)
        hint = (
            f"steps with a model call: {steps}" if steps else "no step of this run did"
        )
        console.print(f"{run}: step {step} made no model call; {hint}")
    for prompt in prompts:
        print_heading(console, f"{run}, step {step}: to the {prompt.role} model")
        for message in prompt.messages:
            console.print(f"[{message.role}]\n{harmless(message.text)}")
