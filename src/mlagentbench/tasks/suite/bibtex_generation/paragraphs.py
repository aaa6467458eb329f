"""Paragraphs that cite: what works concluded, or who worked on what, and when."""

import re
from collections.abc import Sequence

from numpy.random import Generator

from mlagentbench.tasks.suite_papers import Paper, plain

MARKER = "[CITATION]"
KINDS = ("told", "told", "named", "named", "both")
"""How the works of one paragraph are spoken of, in an order of chance."""

_SHORTEST_SENTENCE = 10
_LABEL = re.compile(r"conclusions?\s*:\s*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_OPENINGS = (
    "Work on {topic} has taken several directions.",
    "There is a growing body of work on {topic}.",
    "We summarise what bears on {topic}.",
    "Our study adds to the literature on {topic}.",
    "Several groups have looked at {topic} from different sides.",
)
_REMARKS = (
    "This has practical consequences.",
    "The evidence is not uniform, however.",
    "Other groups chose another approach.",
    "These results leave some questions open.",
    "The settings differ, and so do the methods.",
)
_NAMINGS = (
    "{author} and colleagues ({year}) have studied {keyword} [CITATION].",
    "For {keyword} we refer to the work of {author} et al. ({year}) [CITATION].",
    "Closely related is what {author} et al. ({year}) report on {keyword} [CITATION].",
    "A different view of {keyword} is that of {author} and others ({year}) [CITATION].",
)


def telling(paper: Paper) -> list[str]:
    """Return the sentences of a paper's conclusions that say enough to know it by."""
    title, elsewhere = plain(paper.title), plain(paper.before_conclusions)
    return [
        sentence.rstrip(".?! ")
        for sentence in _SENTENCE_END.split(_LABEL.sub("", paper.conclusions))
        if len(sentence.split()) >= _SHORTEST_SENTENCE
        and title not in plain(sentence)
        and plain(sentence) not in elsewhere
    ]


def can_be_cited(paper: Paper) -> bool:
    """Tell whether a paper can be spoken of in each way."""
    return bool(telling(paper)) and len({*paper.keywords}) >= 2


def write_paragraph(topic: str, papers: Sequence[Paper], rng: Generator) -> str:
    """Speak of each paper once, with a marker in place of the citation."""
    kinds = rng.permutation(KINDS)
    sentences = [
        _sentence(str(kind), topic, paper, rng)
        for kind, paper in zip(kinds, papers, strict=True)
    ]
    sentences.insert(int(rng.integers(1, len(sentences))), str(rng.choice(_REMARKS)))
    opening = str(rng.choice(_OPENINGS)).format(topic=topic)
    return " ".join([opening, *sentences])


def _sentence(kind: str, topic: str, paper: Paper, rng: Generator) -> str:
    author = paper.authors[0].partition(",")[0]
    conclusion = str(rng.choice(telling(paper)))
    if kind == "told":
        return f"{conclusion} {MARKER}."
    if kind == "both":
        return f"{author} et al. ({paper.year}) conclude: {conclusion} {MARKER}."
    others = sorted({*paper.keywords} - {topic})
    naming = str(rng.choice(_NAMINGS))
    keyword = str(rng.choice(others))
    return naming.format(author=author, year=paper.year, keyword=keyword)
