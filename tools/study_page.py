"""Write docs/study.md from the scorecards that `make study` keeps.

python tools/study_page.py
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.compare import (
    AgentRuns,
    Comparison,
    compare_all,
)
from mlagentbench.evaluation.statistics.intervals import wilson
from mlagentbench.evaluation.statistics.significance import Contrast
from mlagentbench.study.study_file import read_study_file

FILE = Path(__file__).with_name("study.toml")
_, STUDY = read_study_file(FILE)
(CELLS,) = STUDY.cells
(TASK,), RUNS, LIMIT = CELLS.tasks, len(CELLS.seeds), f"{CELLS.limits.minutes:g}"
PLANNED = RUNS * len(CELLS.agents)
NOISE = 2
"""Standard deviations of the starter's scores; what is closer may be chance."""
DOCS = Path(__file__).parent.parent / "docs"
KEPT = DOCS / "study-runs.jsonl"
PAGE = DOCS / "study.md"
INTRODUCTION = f"""# Study of a small model

Qwen2.5-Coder-1.5B (`--model local`) on {TASK}, {RUNS} runs of at most {LIMIT} minutes
each, on two CPU cores.

- *Better* counts submissions that are better than the starter by more than {NOISE}
  standard deviations of the starter's scores.
- *Success* counts submissions that are more than 10 % better, with its 95 % Wilson
  interval.
- *Improvement* is relative to the starter's mean.

`ideas=generic` gives the agent one idea per trial from a list that names no task and no
column ([agents](agents.md)). Prompts and ideas were frozen before the first run.

    make study

"""
COMPARED = """
## Comparison of the agents

Differences of success rates and of mean improvements, in percentage points. The
intervals cover noise between runs. One task is no evidence about other tasks. p-values
have Holm's correction for all {comparisons} comparisons.

"""
EVERY_RUN = """
## Every run

"""
FOOT = """
This page is written by `python tools/study_page.py` from
[study-runs.jsonl](study-runs.jsonl).
"""


def page() -> str:
    """Return the page, made of the kept scorecards alone."""
    lines = KEPT.read_text().splitlines()
    cards = [Scorecard.model_validate_json(line) for line in lines]
    sides = _sides([card for card in cards if card.ending.counts])
    return (
        INTRODUCTION
        + _rates(sides)
        + _missing(len(cards))
        + _compared(compare_all(sides))
        + EVERY_RUN
        + _every_run(cards)
        + FOOT
    )


def _sides(counted: Sequence[Scorecard]) -> list[AgentRuns]:
    return [
        AgentRuns(
            name=name, cards=tuple(card for card in counted if card.agent == name)
        )
        for name in dict.fromkeys(card.agent for card in counted)
    ]


def _rates(sides: Sequence[AgentRuns]) -> str:
    head = [
        "agent",
        "runs",
        "better",
        "success",
        "95 %",
        "median improvement",
        "best improvement",
    ]
    rows = [_rate(side) for side in sides]
    return _table([*head, "steps", "executions"], rows)


def _rate(side: AgentRuns) -> list[str]:
    improvements = [card.improvement or 0.0 for card in side.cards]
    won = sum(card.success for card in side.cards)
    rate = wilson(won, len(side.cards))
    return [
        side.name,
        str(len(side.cards)),
        str(sum(map(_is_better, side.cards))),
        str(won),
        f"{rate.low:.0%} to {rate.high:.0%}",
        f"{median(improvements):+.1%}",
        f"{max(improvements):+.1%}",
        f"{fmean(card.steps for card in side.cards):.0f}",
        f"{fmean(map(_executions, side.cards)):.1f}",
    ]


def _is_better(card: Scorecard) -> bool:
    if card.score is None or card.starter is None:
        return False
    ahead = card.direction.sign * (card.score - card.starter.mean)
    return ahead > NOISE * card.starter.sd


def _executions(card: Scorecard) -> int:
    return card.actions.get("Execute Script", 0)


def _missing(made: int) -> str:
    missing = PLANNED - made
    return f"\n{missing} of {PLANNED} runs are still to be done.\n" if missing else ""


def _compared(pairs: Sequence[Comparison]) -> str:
    head = ["A", "B", "success A - B", "95 %", "p", "improvement A - B", "95 %", "p"]
    rows = [_pair(pair) for pair in pairs]
    return COMPARED.format(comparisons=len(pairs)) + _table(head, rows)


def _pair(pair: Comparison) -> list[str]:
    contrasts = [_contrast(pair.success), _contrast(pair.improvement)]
    return [pair.a.name, pair.b.name, *(cell for cells in contrasts for cell in cells)]


def _contrast(contrast: Contrast | None) -> list[str]:
    if contrast is None:
        return ["none", "", ""]
    apart = contrast.difference
    return [
        f"{100 * apart.value:+.0f}",
        f"{100 * apart.low:+.0f} to {100 * apart.high:+.0f}",
        f"{contrast.runs_holm_p:.3f}",
    ]


def _every_run(cards: Sequence[Scorecard]) -> str:
    head = ["agent", "seed", "ending", "score", "improvement", "steps", "executions"]
    rows = [_run(card) for card in cards]
    return _table([*head, "tokens", "minutes"], rows)


def _run(card: Scorecard) -> list[str]:
    return [
        card.agent,
        str(card.seed),
        str(card.ending),
        "none" if card.score is None else f"{card.score:,.0f}",
        "none" if card.improvement is None else f"{card.improvement:+.1%}",
        str(card.steps),
        str(_executions(card)),
        f"{sum(card.tokens.get(kind, 0) for kind in ('input', 'cached', 'output')):,}",
        f"{card.seconds.total / 60:.1f}",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
