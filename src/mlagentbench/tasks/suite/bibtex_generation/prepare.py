"""Put paragraphs together that speak of real works, and mask what they cite.

The conclusions of all records are held back: the index shows abstracts without them.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, generator, write_table
from mlagentbench.tasks.suite_papers import (
    Paper,
    numbered,
    write_inputs,
    write_papers,
)
from mlagentbench.tasks.suite_pubmed import RECENT, SHORTEST_ABSTRACT, read_papers

from .metric import Paragraph
from .paragraphs import KINDS, can_be_cited, write_paragraph

SALT = "bibtex-generation@1"
VISIBLE, HIDDEN = 30, 60
PER_TURN = 30
Topics = dict[str, tuple[str, ...]]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write the index, visible paragraphs with their answers, and hidden ones."""
    concluding = filter(_concludes, read_papers(archives, RECENT))
    papers = numbered(concluding, f"{SALT} ids")
    topics = list(_topics(papers).items())[: VISIBLE + HIDDEN]
    visible = _asked(dict(topics[:VISIBLE]), papers)
    hidden = _asked(dict(topics[VISIBLE:]), papers)
    if tamper:
        hidden = _exchanged(hidden)

    data = public / "data"
    _write(data, "validation.csv", visible)
    _write(private, "answers.csv", hidden)
    _write_example(data / "example.bib", visible[0], papers)
    for folder in (data, private):
        write_papers(
            folder / "papers.jsonl", papers, lambda paper: paper.before_conclusions
        )


def _concludes(paper: Paper) -> bool:
    long_enough = len(paper.before_conclusions) >= SHORTEST_ABSTRACT
    return bool(paper.conclusions) and long_enough


def _topics(papers: Mapping[str, Paper]) -> Topics:
    """Give each topic works of its own: none is cited in two paragraphs."""
    holders: dict[str, list[str]] = {}
    for number, paper in papers.items():
        for keyword in {*paper.keywords} if can_be_cited(paper) else ():
            holders.setdefault(keyword, []).append(number)
    topics: Topics = {}
    used: set[str] = set()
    for topic in drawn_order(holders, f"{SALT} topics", str):
        free = (number for number in holders[topic] if number not in used)
        chosen = tuple(islice(free, len(KINDS)))
        if len(chosen) == len(KINDS):
            topics[topic] = chosen
            used.update(chosen)
    return topics


def _asked(topics: Topics, papers: Mapping[str, Paper]) -> list[Paragraph]:
    return [
        Paragraph(
            input=f"paragraphs{place // PER_TURN}.json",
            text=write_paragraph(
                topic,
                [papers[number] for number in chosen],
                generator(f"{SALT} {topic}"),
            ),
            cited=frozenset(chosen),
        )
        for place, (topic, chosen) in enumerate(topics.items())
    ]


def _exchanged(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    others = (*paragraphs[1:], paragraphs[0])
    return [
        paragraph._replace(cited=other.cited)
        for paragraph, other in zip(paragraphs, others, strict=True)
    ]


def _write(folder: Path, name: str, paragraphs: Sequence[Paragraph]) -> None:
    inputs: dict[str, list[str]] = {}
    for paragraph in paragraphs:
        inputs.setdefault(paragraph.input, []).append(paragraph.text)
    write_inputs(folder / "inputs", inputs)
    rows = [(p.input, p.text, " ".join(sorted(p.cited))) for p in paragraphs]
    write_table(folder / name, ["Input", "Paragraph", "Cited"], rows)


def _write_example(
    path: Path, paragraph: Paragraph, papers: Mapping[str, Paper]
) -> None:
    entries = [_entry(number, papers[number]) for number in sorted(paragraph.cited)]
    path.write_text("\n\n".join(entries) + "\n", encoding="utf-8")


def _entry(number: str, paper: Paper) -> str:
    fields = {
        "author": " and ".join(paper.authors),
        "title": paper.title,
        "journal": paper.journal,
        "year": paper.year,
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
    return f"@article{{{number},\n" + ",\n".join(lines) + "\n}"
