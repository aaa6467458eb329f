"""A run's fold: its facts, plan, code, experiments, findings, opinion and steps."""

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.report.budgeting import Allowance
from mlagentbench.report.code_rows import CodeRow, code_row
from mlagentbench.report.diffs import CodeChanges
from mlagentbench.report.experiments import Experiments, experiments
from mlagentbench.report.facts import run_facts
from mlagentbench.report.findings import (
    FindingRow,
    OpinionRow,
    finding_rows,
    named_steps,
    opinion_row,
)
from mlagentbench.report.plans import PlanRow, plan_row
from mlagentbench.report.steps import Fact, StepRow, step_rows
from mlagentbench.report.view import ExperimentView


class Fold(Record):
    """Everything that is shown of one run below its line."""

    facts: tuple[Fact, ...] = ()
    plan: PlanRow | None = None
    code: CodeRow | None = None
    experiments: Experiments = Experiments()
    examined: bool = False
    """Whether anybody looked how the run was worked."""
    findings: tuple[FindingRow, ...] = ()
    opinion: OpinionRow | None = None
    steps: tuple[StepRow, ...] = ()
    total_steps: int = 0

    @property
    def shown(self) -> frozenset[int]:
        """The steps a link can lead to."""
        return frozenset(step.number for step in self.steps)

    @property
    def left_out(self) -> str:
        """Say what there was no room for; empty where all is shown."""
        short = [
            f"{shown:,} of {total:,} {what}"
            for what, shown, total in (
                ("steps", len(self.steps), self.total_steps),
                ("executions", len(self.experiments.rows), self.experiments.total),
            )
            if shown < total
        ]
        return " and ".join(short)


def fold(view: ExperimentView, card: Scorecard, allowed: Allowance) -> Fold:
    """Write what is known of a judged run."""
    facts = view.facts(card)
    trace = view.trace(card) or Trace(run=card.run)
    telling = named_steps(card)
    return Fold(
        facts=run_facts(card, facts, room=allowed.fact),
        plan=plan_row(trace, room=allowed.plan),
        code=code_row(_code(view, card), room=allowed.diff),
        experiments=experiments(
            trace, facts.unit, facts.direction, room=allowed.experiments
        ),
        examined=bool(card.process),
        findings=finding_rows(card, room=allowed.findings),
        opinion=opinion_row(card.opinion, room=allowed.findings // 2),
        steps=step_rows(trace, facts.unit, room=allowed.steps, telling=telling),
        total_steps=len(trace.steps),
    )


def bare_fold(trace: Trace, allowed: Allowance) -> Fold:
    """Write what is known of a run that nobody judged."""
    return Fold(
        plan=plan_row(trace, room=allowed.plan),
        steps=step_rows(trace, room=allowed.steps),
        total_steps=len(trace.steps),
    )


def _code(view: ExperimentView, card: Scorecard) -> CodeChanges | None:
    # What is kept of a run that was repeated belongs to its last attempt.
    return view.code.get(card.run) if view.trace(card) else None
