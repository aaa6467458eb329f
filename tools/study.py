"""What a small language model that runs here can do, with and without ideas.

    make study          goes on where it was stopped; docs/study.md tells how far it is

The agents' prompts and lists of ideas were frozen before the first run. Rates are
reported as they are.
"""

from pathlib import Path

from study_page import FORMS, KEPT, MINUTES, PAGE, RUNS, TASK, page  # beside this file

from mlagentbench.cli.console import Screen
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.experiment.scorecard_file import last_attempts
from mlagentbench.run.pipeline import resume, run

MODEL = "local"
OUT = Path("runs/study")


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
            resume(experiment, progress=screen, observer=screen)
        else:
            run(plan(agent, ideas), progress=screen, observer=screen)


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
    return last_attempts(experiment.scorecards)


if __name__ == "__main__":
    main()
