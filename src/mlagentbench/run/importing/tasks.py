"""The original's tasks: their names, metrics and the baselines it fixed itself.

They are of the edition `original`, so that no score of ours is compared with theirs.
"""

import re
from pathlib import Path

from mlagentbench.core.record import Record
from mlagentbench.core.task import (
    Baseline,
    Budget,
    DataKind,
    Direction,
    Edition,
    Measured,
    Task,
)

EDITION = "original"
_HIGHER, _LOWER = Direction.HIGHER, Direction.LOWER


class Known(Record):
    """What the original says of one task."""

    id: str
    metric: str
    direction: Direction = _HIGHER
    category: str
    baseline: float | None = None
    """Only where the original sets it itself; elsewhere it averages runs."""
    script: str = "train.py"
    aliases: tuple[str, ...] = ()


_CANONICAL, _KAGGLE, _RESEARCH = "Canonical", "Kaggle", "Current Research"
_CODE, _TOOL = "Improve Code", "Write a tool"
_KNOWN = (
    Known(
        id="cifar10",
        metric="accuracy",
        category=_CANONICAL,
        aliases=("debug", "cifar10_training"),
    ),
    Known(id="imdb", metric="accuracy", category=_CANONICAL, baseline=0.5),
    Known(id="ogbn-arxiv", metric="accuracy", category=_CANONICAL, baseline=0.3134),
    Known(
        id="house-price",
        metric="mae",
        direction=_LOWER,
        category=_KAGGLE,
        baseline=1e10,
    ),
    Known(id="spaceship-titanic", metric="accuracy", category=_KAGGLE, baseline=0.5),
    Known(
        id="parkinsons-disease",
        metric="smape",
        direction=_LOWER,
        category=_KAGGLE,
        aliases=("amp-parkinsons-disease-progression-prediction",),
    ),
    Known(id="fathomnet", metric="auc_map20", category=_KAGGLE, baseline=1e-10),
    Known(id="feedback", metric="mcrmse", direction=_LOWER, category=_KAGGLE),
    Known(id="identify-contrails", metric="dice", category=_KAGGLE),
    Known(id="CLRS", metric="score", category=_RESEARCH),
    Known(id="BabyLM", metric="perplexity", direction=_LOWER, category=_RESEARCH),
    Known(
        id="llama-inference",
        metric="seconds_per_token",
        direction=_LOWER,
        category=_CODE,
        script="inference.py",
    ),
    Known(
        id="vectorization",
        metric="seconds",
        direction=_LOWER,
        category=_CODE,
        baseline=6.1742,
    ),
    Known(id="bibtex-generation", metric="none", category=_TOOL),
    Known(id="literature-review-tool", metric="none", category=_TOOL),
)
_BY_NAME = {
    name.casefold(): known for known in _KNOWN for name in (known.id, *known.aliases)
}


def known_task(name: str) -> str | None:
    """Return our id of a task the original has."""
    known = _BY_NAME.get(name.casefold())
    return known.id if known is not None else None


def original_task(name: str, folder: Path) -> Task:
    """Return a task as the original has it, or only by name where it has none such."""
    known = _BY_NAME.get(name.casefold()) or Known(
        id=_plain_id(name), metric="unknown", category="Other"
    )
    return Task(
        id=known.id,
        version=1,
        title=known.id,
        category=known.category,
        modality="unknown",
        metric=known.metric,
        direction=known.direction,
        unit="",
        script=known.script,
        submission=("submission.csv",),
        perfect=0.0,
        budget=Budget(steps=50, minutes=300, execution_minutes=300),
        edition=EDITION,
        data=Edition(data=DataKind.REAL, summary="the original's own data", size_mb=1),
        folder=folder,
        measured=_measured(known.baseline),
    )


def _measured(baseline: float | None) -> Measured | None:
    if baseline is None:
        return None
    # One number nobody measured the spread of: nothing can be significant against it.
    fixed = Baseline(mean=baseline, sd=0.0, n=1, date="")
    return Measured(starter=fixed, reference=fixed, digest="")


def _plain_id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name[:60]).strip("-") or "unknown"
