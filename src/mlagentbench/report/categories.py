"""The groups that the paper sorts its tasks into."""

from collections.abc import Iterable

from mlagentbench.core.scorecard import Scorecard

CANONICAL = "Canonical"
CLASSIC_KAGGLE = "Classic Kaggle"
KAGGLE_CHALLENGES = "Kaggle challenges"
RECENT_RESEARCH = "Recent research"
CODE = "Code"

_OF_THE_PAPER = {
    "cifar10": CANONICAL,
    "imdb": CANONICAL,
    "ogbn-arxiv": CANONICAL,
    "house-price": CLASSIC_KAGGLE,
    "spaceship-titanic": CLASSIC_KAGGLE,
    "parkinsons-disease": KAGGLE_CHALLENGES,
    "fathomnet": KAGGLE_CHALLENGES,
    "feedback": KAGGLE_CHALLENGES,
    "identify-contrails": KAGGLE_CHALLENGES,
    "clrs": RECENT_RESEARCH,
    "babylm": RECENT_RESEARCH,
    "llama-inference": CODE,
    "vectorization": CODE,
}


_ORDER = (CANONICAL, CLASSIC_KAGGLE, KAGGLE_CHALLENGES, RECENT_RESEARCH, CODE)


def category(card: Scorecard) -> str:
    """Return the paper's group of a task, or what the task says of itself."""
    return _OF_THE_PAPER.get(card.task.casefold()) or card.category or "Other"


def in_order(names: Iterable[str]) -> list[str]:
    """Put the paper's groups first, in its order, then the others as they came."""
    found = dict.fromkeys(names)
    known = [name for name in _ORDER if name in found]
    return known + [name for name in found if name not in _ORDER]
