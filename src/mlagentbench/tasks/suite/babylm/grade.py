"""Judge a language model: how little the held-out texts surprise it, per word."""

from pathlib import Path

import numpy as np

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS
from mlagentbench.tasks.suite_arrays import read_arrays

from .metric import read_texts, word_perplexity

MOST_NATS = 500.0
"""Per word, on average; the perplexity of more than 700 is no number."""


def grade(answers: Path, truth: Path) -> float:
    """Score the nats of each text; the words are counted here, in the texts."""
    texts = read_texts(truth)
    (nats,) = read_arrays(answers / OUTPUTS / truth.name, [np.zeros(len(texts))])
    if not (np.isfinite(nats).all() and (nats >= 0).all()):
        raise SubmissionError("the model gives a text no probability")
    if nats.sum() > MOST_NATS * sum(len(text.split()) for text in texts):
        raise SubmissionError("the model gives the texts next to no probability")
    return word_perplexity(nats, texts)
