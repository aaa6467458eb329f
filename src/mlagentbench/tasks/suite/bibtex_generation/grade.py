"""Judge BibTeX entries: F1 of the works they cite; invented ones count as wrong."""

from pathlib import Path

from mlagentbench.core.turns import OUTPUTS
from mlagentbench.tasks.suite_papers import read_texts

from .metric import mean_score, read_index, read_paragraphs, score_bibtex


def grade(answers: Path, truth: Path) -> float:
    """Score the entries for all paragraphs against the works they were made from."""
    index = read_index(truth.with_name("papers.jsonl"))
    paragraphs = read_paragraphs(truth)
    scores = []
    for name in dict.fromkeys(paragraph.input for paragraph in paragraphs):
        asked = [paragraph for paragraph in paragraphs if paragraph.input == name]
        texts = read_texts(answers / OUTPUTS / name, len(asked))
        scores += [
            score_bibtex(text, paragraph.cited, index)
            for text, paragraph in zip(texts, asked, strict=True)
        ]
    return mean_score(scores)
