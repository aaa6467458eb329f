"""Write docs/experiment-files.md: every file of an experiment, and every field.

    python tools/files_page.py

Fields and types come from the records. The meaning of a field is the text below it in
the source, or the line in MEANINGS if the name alone needs no text there.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.trace import Called, End, Ending, Resumed, Step
from mlagentbench.experiment.experiment import StepScore
from mlagentbench.experiment.plan import ExperimentSpec
from mlagentbench.experiment.votes_file import Refusal, Vote
from mlagentbench.study.study_file import TEMPLATE, StudyFile

PAGE = Path(__file__).parent.parent / "docs" / "experiment-files.md"
INTRODUCTION = """# Experiment files

One `mlab run` writes one folder, the experiment. Nothing else is needed to grade,
resume or report it.

| file | content |
|---|---|
| [`experiment.json`](#experimentjson) | options, tasks, limits and versions |
| [`trace/RUN.jsonl`](#tracerunjsonl) | the record of a run, one line per step |
| `trace/RUN.attemptN.jsonl` | the record of an attempt that ended `broken` |
| `trace/blobs/` | the full text of observations that were shortened, by digest |
| [`scorecards.jsonl`](#scorecardsjsonl) | one line per run: score, cost, findings |
| [`steps.jsonl`](#stepsjsonl) | scores of steps, after `mlab score --steps` |
| [`opinions.jsonl`](#opinionsjsonl) | votes of an LLM judge (`--role judge=MODEL`) |
| `submissions/RUN/` | the submitted files |
| `units/RUN.npz` | NumPy arrays: the units of a score, if its grader returns them |
| `snapshots/` | the workspace after each step; each file is stored once, by digest |
| `logs/*.eval` | Inspect's log, for `mlab view`; the harness never reads it |
| `report.html` | the report, one file that works offline |

RUN is `task:agent:model:seed`, with `/` and other special characters percent-encoded.
All files are UTF-8. The harness appends to JSONL files and flushes every line. Times
are UTC in ISO 8601 format, durations are seconds, costs are US dollars. Later versions
may add fields. Old files stay readable.

The folder of a study holds one experiment per cell in `cells/`. The
[study file](#study-file) lists the cells.

In Python, `ml.open_experiment(FOLDER)` has `spec`, `scorecards` and `trace(run)`.
"""
SECTIONS: dict[str, tuple[str, tuple[type[Record], ...]]] = {
    "experiment.json": ("One JSON object.", (ExperimentSpec,)),
    "trace/RUN.jsonl": (
        "Each line is an object of one of four kinds, named by its field `kind`. A"
        " model's reply is written before the step that it led to. The last line of a"
        " finished run has the kind `end`.",
        (Step, Called, Resumed, End),
    ),
    "scorecards.jsonl": (
        "One JSON object per run. [Metrics](metrics.md) explains the numbers.",
        (Scorecard,),
    ),
    "steps.jsonl": ("One JSON object per graded step.", (StepScore,)),
    "opinions.jsonl": ("One JSON object per vote or refusal.", (Vote, Refusal)),
    "Study file": (
        "A TOML file for `mlab study`. `mlab study new FILE.toml` writes this one:\n\n"
        f"```toml\n{TEMPLATE.read_text()}```",
        (StudyFile,),
    ),
}
FOOT = "\nThis page is written by `python tools/files_page.py`.\n"
MEANINGS = {
    "BestStep.score": "its score on held-out data",
    "BestStep.step": "the number of the step",
    "BudgetOverride.cost_usd": "dollars for all models of a run together",
    "BudgetOverride.minutes": "minutes of work",
    "BudgetOverride.steps": "steps",
    "BudgetOverride.tokens": "tokens of all models of a run together",
    "BudgetOverride.wall_minutes": "wall time in minutes",
    "Budget.cost_usd": "dollars for all models together; null for no limit",
    "Budget.tokens": "tokens of all models together; null for no limit",
    "BudgetPoint.score": "the score",
    "BudgetPoint.steps": "the number of steps of the smaller budget",
    "BudgetPoint.success": "whether that score would be a success",
    "Called.call": "the reply",
    "End.at": "time of the ending",
    "End.ending": "why the run ended",
    "End.spent": "the budget used",
    "ExperimentSpec.agent": "name of the agent, or module:function",
    "ExperimentSpec.judge": "the LLM judge, if one was asked",
    "ExperimentSpec.limits": "the mechanism that enforced each limit",
    "ExperimentSpec.model": "name of the main model; `none` if there is none",
    "ExperimentSpec.origin": "where the runs were made",
    "ExperimentSpec.packages": "versions of packages that affect results",
    "ExperimentSpec.parallel": "runs at a time",
    "ExperimentSpec.patience": "limits on waiting for a provider",
    "ExperimentSpec.prices": "prices given with --prices",
    "ExperimentSpec.python": "version of the harness's Python",
    "ExperimentSpec.sandbox": "the sandbox, `bwrap`",
    "ExperimentSpec.seeds": "one run per task and seed",
    "ExperimentSpec.started": "time of the start",
    "ExperimentSpec.tasks": "the tasks as they were at the start",
    "ExperimentSpec.unsafe": "true if agents' code ran without isolation",
    "Finding.steps": "numbers of the steps",
    "FirstSuccess.cost_usd": "cost up to that step",
    "FirstSuccess.seconds": "time up to that step",
    "FirstSuccess.step": "the number of the step",
    "FirstSuccess.tokens": "tokens up to that step",
    "ForkOrigin.model": "model of the forked run",
    "Harness.inspect_ai": "version of Inspect",
    "Harness.version": "version of mlagentbench",
    "Judge.model": "name of the model",
    "Mark.median": "the median of the votes",
    "Mark.votes": "every vote, from 1 to 5",
    "Measurement.metric": "name of the metric",
    "Measurement.value": "the validation score",
    "ModelCall.asked_by": "who called the model",
    "ModelCall.cost": "dollars; null if the price is unknown",
    "ModelCall.model": "name of the model",
    "ModelCall.reply": "the reply as Inspect's `ModelOutput`",
    "ModelCall.request_sha": "digest of the request; a resumed run compares it",
    "ModelCall.role": "`main`, or the role given with --role",
    "ModelCall.usage": "tokens: `input`, `output`, `cached`",
    "Opinion.agrees_with_itself": "agreement between votes",
    "Opinion.agrees_with_rules": "agreement with the process checks",
    "Opinion.cost_usd": "dollars for the judge",
    "Opinion.marks": "ratings",
    "Opinion.model": "name of the judge",
    "Opinion.tokens": "tokens the judge used",
    "Price.input": "dollars per million input tokens",
    "Price.output": "dollars per million output tokens",
    "Refusal.attempt": "the attempt of the run",
    "Refusal.judge": "name of the model",
    "Refusal.why": "the reason",
    "Resumed.at": "time of the resumption",
    "RunId.agent": "the agent with its settings",
    "RunId.model": "the model with its roles",
    "RunId.seed": "seed of the run",
    "RunId.task": "id of the task",
    "RunSeconds.execute": "executions of the agent's code",
    "RunSeconds.harness": "work of the harness, such as snapshots and validation",
    "RunSeconds.model": "waiting for models",
    "RunSeconds.total": "the complete run",
    "SandboxUsed.limits": "the mechanism that enforced each limit",
    "SandboxUsed.provider": "the sandbox, `bwrap`",
    "SandboxUsed.unsafe": "true if the code ran without isolation",
    "Scorecard.actions": "how often each action was taken, by name",
    "Scorecard.agent": "the agent with its settings",
    "Scorecard.attempt": "number of the attempt",
    "Scorecard.best_step": "the best graded step, after `mlab score --steps`",
    "Scorecard.by_budget": "scores that fewer steps would have given",
    "Scorecard.category": "category of the task",
    "Scorecard.cost_usd": "dollars for models",
    "Scorecard.created": "time of the grading",
    "Scorecard.direction": "`higher` or `lower` is better",
    "Scorecard.edition": "edition of the task",
    "Scorecard.ending": "why the run ended",
    "Scorecard.errors": "how often actions failed, by kind of error",
    "Scorecard.first_success": "the first step that succeeds on held-out data",
    "Scorecard.gap_closed": "0 = starter, 1 = reference; not clipped",
    "Scorecard.harness": "versions of the code that graded",
    "Scorecard.improvement": "improvement over the starter's mean",
    "Scorecard.metric": "name of the task's metric",
    "Scorecard.model": "the model with its roles; `none` if there is none",
    "Scorecard.opinion": "ratings",
    "Scorecard.origin": "where the run was made",
    "Scorecard.process": "findings of the process checks",
    "Scorecard.sandbox": "where the agent's code ran",
    "Scorecard.score": "score on held-out data",
    "Scorecard.score_ci": "interval of a timed score",
    "Scorecard.seconds": "time by what used it",
    "Scorecard.seed": "seed of the run",
    "Scorecard.significant": "success outside the starter's 95 % prediction interval",
    "Scorecard.starter": "the baseline of the improvement",
    "Scorecard.steps": "steps of the run",
    "Scorecard.submission_error": "why the submission has no score",
    "Scorecard.success": "improvement of more than 10 %",
    "Scorecard.task": "id of the task",
    "Scorecard.tokens": "tokens: `input`, `output`, `cached`",
    "Scorecard.version": "version of the task",
    "Seconds.execute": "execution of the agent's code",
    "Seconds.harness": "work of the harness",
    "Seconds.model": "waiting for models",
    "Spent.cost": "dollars",
    "Spent.seconds": "seconds that count against the time budget",
    "Spent.steps": "steps",
    "Spent.tokens": "input and output tokens",
    "Starter.mean": "mean score",
    "Starter.n": "number of measurements",
    "Starter.sd": "standard deviation",
    "Step.action": "name of the action",
    "Step.agent_step": "number of the agent's turn",
    "Step.calls": "model replies before the step",
    "Step.input": "arguments of the action",
    "Step.observation": "the text the agent saw",
    "Step.ok": "false if the action failed",
    "Step.seconds": "time of this step",
    "Step.snapshot": "digest of the workspace after the step",
    "Step.spent": "the budget used so far",
    "Step.started": "time of the start",
    "Step.step": "number of the step",
    "Step.validation": "the validation score after an execution",
    "StepScore.score": "its score on held-out data",
    "StepScore.step": "the number of the step",
    "StepScore.submission": "the submission",
    "StepScore.submission_error": "why it has no score",
    "TaskSpec.budget": "the task's limits with those given on the command line",
    "TaskSpec.digest": "digest of the task folder",
    "TaskSpec.edition": "edition of the task",
    "TaskSpec.id": "id of the task",
    "TaskSpec.version": "version of the task",
    "Vote.attempt": "the attempt of the run",
    "Vote.call": "the judge's reply",
    "Vote.judge": "the judge",
    "Vote.number": "number of the vote",
    "kind": "the kind of the line",
    "run": "the run's id, `task:agent:model:seed`",
    "v": "version of the trace format",
}  # fmt: skip


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


def page() -> str:
    """Return the complete page."""
    shown: set[type[Record]] = set()
    text = INTRODUCTION
    for heading, (introduction, models) in SECTIONS.items():
        text += f"\n## {heading}\n\n{introduction}\n"
        for model in [one for top in models for one in with_nested(top)]:
            if model not in shown:
                shown.add(model)
                text += _model(model)
    return text + FOOT


def with_nested(model: type[Record]) -> Iterator[type[Record]]:
    """Yield a record's model and those of its fields."""
    yield model
    for field in model.model_fields.values():
        for nested in _records(field.annotation):
            yield from with_nested(nested)


def _records(annotation: Any) -> Iterator[type[Record]]:  # noqa: ANN401  # any type
    if inspect.isclass(annotation) and issubclass(annotation, Record):
        yield annotation
    for part in get_args(annotation):
        yield from _records(part)


def _model(model: type[Record]) -> str:
    summary = (inspect.getdoc(model) or "").partition("\n")[0]
    rows = [
        (f"`{name}`", _type(field.annotation), meaning(model, name))
        for name, field in model.model_fields.items()
        if not field.exclude
    ]
    lines = [("field", "type", "meaning"), ("---",) * 3, *rows]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"\n### {model.__name__}\n\n{summary}\n\n{table}"


def meaning(model: type[Record], name: str) -> str:
    """Return what a field means; empty if nobody wrote it down."""
    written = _docstrings(model).get(name, "")
    known = MEANINGS.get(f"{model.__name__}.{name}") or MEANINGS.get(name, "")
    sentence = f"{known[0].upper()}{known[1:]}. " if known else ""
    return " ".join(f"{sentence}{written}".split()).replace("|", "\\|")


@cache
def _docstrings(model: type[Record]) -> dict[str, str]:
    """Return the strings below the fields in the source, also of base classes."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, Record) or base is Record:
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for field, below in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and _is_text(below):
                found[ast.unparse(field.target)] = ast.literal_eval(below.value)
    return found


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


_ANY = "anything"
_PLAIN = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    Ending: "[ending](budget.md#endings)",
}


def _type(annotation: Any) -> str:  # noqa: ANN401  # any type
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is None:
        return _class(annotation)
    if origin is Annotated:
        return _type(parts[0])
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in parts)
    if origin is tuple:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"object of {_type(parts[1])}".removesuffix(f" of {_ANY}")
    null = ["null"] if type(None) in parts else []
    return " or ".join([_type(one) for one in parts if one is not type(None)] + null)


def _class(annotation: type) -> str:
    name = annotation.__name__
    if issubclass(annotation, Record):
        return f"[{name}](#{name.lower()})"
    if annotation is not Ending and issubclass(annotation, Enum):
        return " or ".join(f"`{one.value}`" for one in annotation)
    return _PLAIN.get(annotation, _ANY)


if __name__ == "__main__":
    main()
