"""Scorecards that reproduce the paper's tables 3 and 4; the README says how."""

import csv
from collections.abc import Iterator
from pathlib import Path

from mlagentbench.core.scorecard import Harness, SandboxUsed, Scorecard, Starter
from mlagentbench.core.success import SUCCESS_THRESHOLD
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending
from mlagentbench.report.paper import PAPER_METRICS

HERE = Path(__file__).parent
BASELINE = "Baseline"
AVERAGE = "Average"
RUNS = 8
ODD_CELLS = {("identify-contrails", BASELINE): 5, ("CLRS", BASELINE): 7}
NEVER_RUN = frozenset(
    (task, BASELINE)
    for task in (
        "imdb",
        "house-price",
        "spaceship-titanic",
        "fathomnet",
        "llama-inference",
    )
)
"""Cells that are printed as 0.0 though there can hardly have been a run."""

GAIN = 3 / 16
"""Of a success, where the mean leaves it open; with this one the baseline's own gains
and losses, 2 of 5 and 3 of 7, cancel out exactly."""
SMALL_LOSS = -0.0002
"""What `-0.0` is read as."""
ALL_GAIN = 1 - 2e-6
"""What `100.0` is read as: 20,000 dollars against a baseline of 1e10. A score of
exactly 0 would be no submission in the original's evaluation."""

LOWER = frozenset(
    {
        "house-price",
        "parkinsons-disease",
        "feedback",
        "llama-inference",
        "vectorization",
        "BabyLM",
    }
)
CATEGORIES = {
    "Canonical": ("cifar10", "imdb", "ogbn-arxiv"),
    "Classic Kaggle": ("house-price", "spaceship-titanic"),
    "Kaggle Challenges": (
        "parkinsons-disease",
        "fathomnet",
        "feedback",
        "identify-contrails",
    ),
    "Recent Research": ("CLRS", "BabyLM"),
    "Improve Code": ("llama-inference", "vectorization"),
}
CATEGORY = {task: name for name, tasks in CATEGORIES.items() for task in tasks}

Table = dict[str, dict[str, str]]
"""By task, then column: the digits as printed."""


def published(name: str) -> Table:
    """Read one of the tables; its row `Average` is one of them."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        return {row.pop("task"): row for row in csv.DictReader(file)}


def paper_cards() -> tuple[Scorecard, ...]:
    """Make every run of both tables."""
    return tuple(card for task, column in cells() for card in _cell(task, column))


def write_paper_experiment(folder: Path) -> Path:
    """Write the runs as an experiment's folder; nobody asked for them, so no more."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(card.model_dump_json() + "\n" for card in paper_cards())
    (folder / "scorecards.jsonl").write_text(lines)
    return folder


def cells() -> Iterator[tuple[str, str]]:
    """Name every cell that was run: task and column."""
    for task, row in published("success_rate").items():
        for column in row:
            if task != AVERAGE and (task, column) not in NEVER_RUN:
                yield task, column


def _cell(task: str, column: str) -> Iterator[Scorecard]:
    runs = ODD_CELLS.get((task, column), RUNS)
    rate = published("success_rate")[task][column]
    gains = _gains(
        runs=runs,
        successes=round(float(rate) / 100 * runs),
        printed=published("improvement")[task][column],
        valid_at_zero=runs if column == BASELINE else 1,
    )
    missing = [None] * (runs - len(gains))
    for seed, gain in enumerate([*gains, *missing], start=1):
        yield _card(task, column, seed, gain)


def _gains(
    *, runs: int, successes: int, printed: str, valid_at_zero: int
) -> list[float]:
    """Choose what the valid runs of a cell gained."""
    exact = {"-0.0": SMALL_LOSS, "100.0": ALL_GAIN}
    mean = exact.get(printed, float(printed) / 100)
    if successes and mean > SUCCESS_THRESHOLD:
        return [mean] * successes
    if not successes and printed == "0.0":
        return [mean] * valid_at_zero
    rest = (runs * mean - successes * GAIN) / (runs - successes)
    return [GAIN] * successes + [rest] * (runs - successes)


def _card(task: str, column: str, seed: int, gain: float | None) -> Scorecard:
    direction = Direction.LOWER if task in LOWER else Direction.HIGHER
    return Scorecard(
        run=f"{task}:original:{column}:{seed}",
        task=task,
        version=1,
        edition="paper",
        category=CATEGORY[task],
        agent="original",
        model=column,
        seed=seed,
        ending=Ending.SUBMITTED,
        metric=PAPER_METRICS[task],
        direction=direction,
        score=None if gain is None else 1 + direction.sign * gain,
        submission_error="no valid submission" if gain is None else None,
        starter=Starter(mean=1.0, sd=0.0, n=1),
        improvement=gain,
        success=gain is not None and gain > SUCCESS_THRESHOLD,
        sandbox=SandboxUsed(provider="original", limits="not known", unsafe=True),
        harness=Harness(version="original", inspect_ai="none"),
        created="2024-07-21T00:00:00+00:00",
    )
