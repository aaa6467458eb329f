"""What a small language model that runs here can do, with and without ideas.

    make study          continues where it stopped; docs/study.md has the results

The agents' prompts and lists of ideas were frozen before the first run. Rates are
reported as they are. The model answers on all cores, so the cells run one at a time.
"""

from study_page import FILE, KEPT, PAGE, page  # beside this file

from mlagentbench.cli.console import StudyScreen
from mlagentbench.study import open_study, run_study

OUT = "runs/small-model"


def main() -> None:
    """Run what is missing; the page shows what there is, even if it is interrupted."""
    try:
        with StudyScreen() as screen:
            run_study(FILE, out=OUT, parallel=1, observer=screen)
    finally:
        cards = open_study(OUT).scorecards
        KEPT.write_text("".join(f"{card.model_dump_json()}\n" for card in cards))
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
