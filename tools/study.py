"""What a small language model that runs here can do, with and without ideas.

    make study          goes on where it was stopped; docs/study.md tells how far it is

The agents' prompts and lists of ideas were frozen before the first run. Rates are
reported as they are.
"""

from pathlib import Path

from mlagentbench.cli.live import Screen
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.rates import wilson
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.pipeline import resume, run
from mlagentbench.run.plan import BudgetOverride, Plan
from mlagentbench.run.scorecards import last_attempts

TASK = "house-price"
MODEL = "local"
RUNS = 5
MINUTES = 5
FORMS = [
    (agent, ideas) for agent in ("research", "tree") for ideas in ("off", "generic")
]
OUT = Path("runs/study")
DOCS = Path(__file__).parent.parent / "docs"
KEPT = DOCS / "study-runs.jsonl"
PAGE = DOCS / "study.md"
INTRODUCTION = f"""# A small model does research

Qwen2.5-Coder-1.5B (`--model local`) on {TASK}, {RUNS} runs of at most {MINUTES} minutes
each, on two CPU cores. *Improved* counts runs that end better than the starter's mean,
*success* those more than 10 % better, with its 95 % Wilson interval. `ideas=generic`
tells the agent one idea per trial from a list that names no task and no column
(`docs/agents.md`).

    make study

"""


def main() -> None:
    """Run what is missing; the page tells what there is, even if it is interrupted."""
    try:
        for agent, ideas in FORMS:
            carry_out(agent, ideas)
    finally:
        write_down()


def write_down() -> None:
    """Keep the scorecards there are, and write the page."""
    cards = [card for form in FORMS for card in judged(*form)]
    KEPT.write_text("".join(f"{card.model_dump_json()}\n" for card in cards))
    PAGE.write_text(page())


def carry_out(agent: str, ideas: str) -> None:
    """Begin one form's runs, or go on with them."""
    with Screen() as screen:
        experiment = Experiment(folder(agent, ideas))
        if experiment.folder.exists():
            resume(experiment, progress=screen, audience=screen)
        else:
            run(plan(agent, ideas), progress=screen, audience=screen)


def plan(agent: str, ideas: str) -> Plan:
    """Say what one form's runs are."""
    return Plan(
        tasks=(TASK,),
        agent=agent,
        settings={"ideas": ideas},
        model=MODEL,
        seeds=tuple(range(RUNS)),
        budget=BudgetOverride(minutes=MINUTES),
        out=OUT,
        name=f"{agent}-{ideas}",
    )


def folder(agent: str, ideas: str) -> Path:
    """Return where one form's runs are kept."""
    return OUT / f"{agent}-{ideas}"


def judged(agent: str, ideas: str) -> list[Scorecard]:
    """Return one form's scorecards, each run's last attempt; none before it begins."""
    experiment = Experiment(folder(agent, ideas))
    cards, _ = experiment.scorecards() if experiment.folder.exists() else ([], [])
    return last_attempts(cards)


def page() -> str:
    """Return the page, made of the kept scorecards alone."""
    lines = KEPT.read_text().splitlines()
    cards = [Scorecard.model_validate_json(line) for line in lines]
    names = list(dict.fromkeys(card.agent for card in cards))
    planned = RUNS * len(FORMS)
    missing = planned - len(cards)
    foot = f"\n{missing} of {planned} runs are still to be done.\n" if missing else ""
    head = "| agent | runs | improved | success | 95 % | best | steps | experiments |\n"
    rows = [_row([card for card in cards if card.agent == name]) for name in names]
    return (
        INTRODUCTION
        + head
        + "|---|---|---|---|---|---|---|---|\n"
        + "".join(rows)
        + foot
    )


def _row(cards: list[Scorecard]) -> str:
    counted = [card for card in cards if card.ending.counts]
    gains = [card.improvement or 0.0 for card in counted]
    won = sum(card.success for card in counted)
    executed = [card.actions.get("Execute Script", 0) for card in counted]
    rate = wilson(won, len(counted))
    cells = [
        cards[0].agent,
        str(len(counted)),
        str(sum(gain > 0 for gain in gains)),
        str(won),
        f"{rate.low:.0%} to {rate.high:.0%}",
        f"{max(gains):+.1%}",
        f"{sum(card.steps for card in counted) / len(counted):.0f}",
        f"{sum(executed) / len(executed):.1f}",
    ]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
