"""Ask about main topics of real PubMed records; relevant is what indexers called so.

The headings by which indexers described a record are held back: they are the truth.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table
from mlagentbench.tasks.suite_papers import (
    Paper,
    numbered,
    write_inputs,
    write_papers,
)
from mlagentbench.tasks.suite_pubmed import INDEXED, read_papers

from .metric import Question

SALT = "literature-review-tool@1"
RECORDS = 8000
FEWEST_RELEVANT, MOST_RELEVANT = 10, 40
VISIBLE, HIDDEN = 30, 60
PER_TURN = 30
WORDINGS = (
    "What is known about {topic}?",
    "Which studies deal with {topic}, and what did they find?",
    "Give an overview of research on {topic}.",
    "What has been reported on {topic} so far?",
    "Review the literature on {topic}.",
    "What do published papers say about {topic}?",
)

_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write the index, visible questions with their answers, and hidden ones."""
    papers = numbered(_drawn(read_papers(archives, INDEXED)), f"{SALT} ids")
    relevant = _relevant(papers)
    topics = drawn_order(relevant, f"{SALT} topics", str)[: VISIBLE + HIDDEN]
    visible = _asked(topics[:VISIBLE], relevant)
    hidden = _asked(topics[VISIBLE:], relevant)
    if tamper:
        hidden = _exchanged(hidden)

    data = public / "data"
    _write(data, "validation.csv", visible)
    _write(private, "answers.csv", hidden)
    for folder in (data, private):
        write_papers(folder / "papers.jsonl", papers, lambda paper: paper.abstract)


def topic_name(heading: str) -> str:
    """Turn `Rhinitis, Allergic, Seasonal` into `seasonal allergic rhinitis`."""
    parts = [part.strip() for part in heading.split(",")]
    return _CAPITALISED.sub(lambda word: word[0].lower(), " ".join(reversed(parts)))


def _drawn(papers: Iterable[Paper]) -> list[Paper]:
    return drawn_order(papers, f"{SALT} records", lambda paper: paper.pmid)[:RECORDS]


def _relevant(papers: Mapping[str, Paper]) -> dict[str, list[str]]:
    holders: dict[str, list[str]] = {}
    for number, paper in papers.items():
        for heading in sorted(paper.headings):
            holders.setdefault(heading, []).append(number)
    return {
        heading: found
        for heading, found in holders.items()
        if FEWEST_RELEVANT <= len(found) <= MOST_RELEVANT
    }


def _asked(
    topics: Sequence[str], relevant: Mapping[str, Sequence[str]]
) -> list[Question]:
    wordings = cycle(WORDINGS)
    return [
        Question(
            input=f"questions{place // PER_TURN}.json",
            text=next(wordings).format(topic=topic_name(topic)),
            relevant=frozenset(relevant[topic]),
        )
        for place, topic in enumerate(topics)
    ]


def _exchanged(questions: Sequence[Question]) -> list[Question]:
    others = (*questions[1:], questions[0])
    return [
        question._replace(relevant=other.relevant)
        for question, other in zip(questions, others, strict=True)
    ]


def _write(folder: Path, name: str, questions: Sequence[Question]) -> None:
    inputs: dict[str, list[str]] = {}
    for question in questions:
        inputs.setdefault(question.input, []).append(question.text)
    write_inputs(folder / "inputs", inputs)
    rows = [(q.input, q.text, " ".join(sorted(q.relevant))) for q in questions]
    write_table(folder / name, ["Input", "Question", "Relevant"], rows)
