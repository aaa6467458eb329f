"""The metric of literature-review-tool: how good its reports are, higher is better.

A report's score is the product of three numbers between 0 and 1: how well its first 20
references are ranked (nDCG), which share of its references exists in the index, and
which share of the four required sections is complete.

Run it beside your `review.py` to see the mean over the visible questions:

    python evaluate.py
"""

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SECTIONS = ("Summary", "Related work", "Open questions", "References")
RANKED = 20
"""So many references are looked at for their rank."""
SUMMARY_WORDS = 30
CITED_WORKS = 5

_BULLETS = ("- ", "* ")
_REFERENCE = re.compile(r"..\[(\w{1,20})\]")
_CITED = re.compile(r"\[(\w{1,20})\]")


class Question(NamedTuple):
    """What is asked, and which records indexers found relevant."""

    input: str
    """The file in which it is asked."""
    text: str
    relevant: frozenset[str]


def mean_score(scores: Sequence[float]) -> float:
    """Average the scores of all reports."""
    return math.fsum(scores) / len(scores)


def score_report(
    report: str, relevant: Collection[str], known: Collection[str]
) -> float:
    """Judge one report."""
    sections = read_sections(report)
    listed = list_references(sections.get("References", ""))
    if not listed:
        return 0.0
    exists = sum(reference in known for reference in listed) / len(listed)
    complete = sum(_completeness(sections, listed)) / len(SECTIONS)
    return ndcg(listed, relevant) * exists * complete


def ndcg(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Add up 1 / log2(rank + 1) of relevant works, as a share of the most possible."""
    gained = [place for place, work in enumerate(ranked[:RANKED]) if work in relevant]
    return _gain(gained) / _gain(range(min(RANKED, len(relevant))))


def read_sections(report: str) -> dict[str, str]:
    """Return the text below each heading of the second level; the first one counts."""
    sections: dict[str, str] = {}
    for part in f"\n{report}".split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        sections.setdefault(heading.strip(), text.strip())
    return sections


def list_references(section: str) -> list[str]:
    """Return the ids of lines such as `- [P00042] ...`, each once, in order.

    A line that names no id stands for itself: it refers to nothing that exists.
    """
    lines = (line.strip() for line in section.split("\n"))
    listed = (_named(line) for line in lines if line.startswith(_BULLETS))
    return list(dict.fromkeys(listed))


def read_questions(path: Path) -> list[Question]:
    """Read the columns Input, Question and Relevant of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Question(row["Input"], row["Question"], frozenset(row["Relevant"].split()))
            for row in csv.DictReader(file)
        ]


def read_known(path: Path) -> frozenset[str]:
    """Read the ids of all records of the index."""
    with path.open(encoding="utf-8") as file:
        return frozenset(json.loads(line)["id"] for line in file)


def _named(line: str) -> str:
    found = _REFERENCE.match(line)
    return found[1] if found else line


def _completeness(sections: dict[str, str], listed: Sequence[str]) -> Iterator[bool]:
    related = _CITED.findall(sections.get("Related work", ""))
    yield len(sections.get("Summary", "").split()) >= SUMMARY_WORDS
    yield len({*related} & {*listed}) >= CITED_WORKS
    yield "?" in sections.get("Open questions", "")
    yield bool(listed)


def _gain(places: Collection[int]) -> float:
    return math.fsum(1 / math.log2(place + 2) for place in places)


def main() -> None:
    """Print the mean score of review.py on the visible questions."""
    from review import review  # type: ignore[import-not-found]

    known = read_known(Path("data/papers.jsonl"))
    scores = [
        score_report(review(question.text), question.relevant, known)
        for question in read_questions(Path("data/validation.csv"))
    ]
    print(f"validation report_score={mean_score(scores):.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
