"""Write docs/example.md: what a small language model did and saw, word for word.

python tools/example_page.py               from the kept trace and scorecard
python tools/example_page.py EXPERIMENT    keep that experiment's only run before
"""

import sys
from pathlib import Path

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.text import harmless
from mlagentbench.core.trace import Step
from mlagentbench.environment.prompts import fenced
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import read_trace

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "example.md"
TRACE = DOCS / "example-trace.jsonl"
CARD = DOCS / "example-scorecard.json"
INTRODUCTION = """# One run of a small language model, word for word

    mlab run {task} --model local --agent {agent}

{model}, served by the benchmark itself on two CPU cores, without key or network. It
took {minutes:.0f} minutes, {tokens:,} tokens and {steps} steps, {executed} of them
executions, and ended as `{ending}`. The submission scored {metric} {score}, which is
{improvement} against the starter's {starter:,.0f}. A line that ends in *(measured)* is
ours: we compute the validation score after each execution. One run says little;
[study.md](study.md) has twenty, with and without ideas.

"""
FOOT = """
The record of this run is [example-trace.jsonl](example-trace.jsonl); this page is
written from it by `python tools/example_page.py`.
"""


def main() -> None:
    """Write the page, after keeping an experiment's run where one is named."""
    for folder in sys.argv[1:]:
        keep(Experiment(Path(folder)))
    PAGE.write_text(page())


def keep(experiment: Experiment) -> None:
    """Keep the trace and the scorecard of an experiment's only run."""
    (card,) = experiment.scorecards
    TRACE.write_bytes(experiment.trace_path(card.run_id).read_bytes())
    CARD.write_text(f"{card.model_dump_json(indent=2)}\n")


def page() -> str:
    """Return the whole page."""
    card = Scorecard.model_validate_json(CARD.read_text())
    trace = read_trace(TRACE, card.run)
    return _introduction(card) + "\n".join(map(_section, trace.steps)) + FOOT


def _introduction(card: Scorecard) -> str:
    assert card.starter is not None
    assert card.improvement is not None
    return INTRODUCTION.format(
        task=card.task,
        agent=card.agent,
        model=card.model,
        minutes=card.seconds.total / 60,
        tokens=sum(card.tokens[kind] for kind in ("input", "cached", "output")),
        steps=card.steps,
        executed=card.actions.get("Execute Script", 0),
        ending=card.ending.value,
        metric=card.metric,
        score=f"{card.score:,.0f}",
        improvement=f"{card.improvement:+.1%}",
        starter=card.starter.mean,
    )


def _section(step: Step) -> str:
    parts = [f"## Step {step.step}: {step.action}"]
    for name, value in (step.fields | step.input).items():
        parts += [f"*{harmless(name)}*", fenced(harmless(str(value)))]
    return "\n\n".join([*parts, "*Observation*", fenced(harmless(step.told)), ""])


if __name__ == "__main__":
    main()
