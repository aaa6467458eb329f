"""The metric of bibtex-generation: F1 of the cited works, higher is better.

For each paragraph, F1 is twice the number of cited works that were found, divided by
the number of entries written plus the number of works cited. An entry finds a work
when it has author, title, journal and year, and title and year are those of the work.
Text that is not BibTeX from beginning to end scores 0.

Run it beside your `bibtex.py` to see the mean over the visible paragraphs:

    python evaluate.py
"""

import csv
import json
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REQUIRED = ("author", "title", "journal", "year")

_HEAD = re.compile(r"\s*@([A-Za-z]+)\s*\{\s*([^\s,{}\"@=]+)\s*,")
_NAME = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*")
_BARE = re.compile(r"\w+")
_NEXT = re.compile(r"\s*(,?)\s*(\}?)")
_MARKS = re.compile(r"[{}\"]")

Index = Mapping[tuple[str, str], str]
"""The id of each record by its plain title and its year."""


class Entry(NamedTuple):
    """One entry of a BibTeX file."""

    kind: str
    key: str
    fields: dict[str, str]


class Paragraph(NamedTuple):
    """A text with masked citations, and the records they stand for."""

    input: str
    """The file in which it is asked."""
    text: str
    cited: frozenset[str]


class NotBibtexError(ValueError):
    """The text cannot be read as BibTeX."""


def mean_score(scores: Sequence[float]) -> float:
    """Average the scores of all paragraphs."""
    return math.fsum(scores) / len(scores)


def score_bibtex(text: str, cited: Collection[str], index: Index) -> float:
    """Judge the entries written for one paragraph."""
    try:
        entries = parse(text)
    except NotBibtexError:
        return 0.0
    found = {identify(entry, index) for entry in entries}
    return 2 * len(found & {*cited}) / (len(entries) + len(cited))


def identify(entry: Entry, index: Index) -> str | None:
    """Return the id of the record that an entry describes, None if there is none."""
    if not all(entry.fields.get(field, "").strip() for field in REQUIRED):
        return None
    return index.get((plain(entry.fields["title"]), entry.fields["year"].strip(" {}")))


def parse(text: str) -> list[Entry]:
    """Read entries until the text ends; time grows with its length only."""
    entries = []
    place, end = 0, len(text.rstrip())
    while place < end:
        entry, place = _entry(text, place)
        entries.append(entry)
    return entries


def plain(title: str) -> str:
    """Reduce a title to its letters and digits, accents left out."""
    letters = unicodedata.normalize("NFKD", title).casefold()
    return "".join(c for c in letters if c.isalnum())


def read_paragraphs(path: Path) -> list[Paragraph]:
    """Read the columns Input, Paragraph and Cited of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Paragraph(row["Input"], row["Paragraph"], frozenset(row["Cited"].split()))
            for row in csv.DictReader(file)
        ]


def read_index(path: Path) -> dict[tuple[str, str], str]:
    """Read which records there are."""
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {(plain(r["title"]), r["year"]): r["id"] for r in records}


def _entry(text: str, place: int) -> tuple[Entry, int]:
    head = _match(_HEAD, text, place)
    fields: dict[str, str] = {}
    place, ended = head.end(), False
    while not ended:
        name = _match(_NAME, text, place)
        value, place = _value(text, name.end())
        fields.setdefault(name[1].casefold(), value)
        after = _match(_NEXT, text, place)
        if not after[1] and not after[2]:
            raise NotBibtexError(f"a comma or brace is missing at {place}")
        place, ended = after.end(), bool(after[2])
    return Entry(head[1].casefold(), head[2], fields), place


def _value(text: str, place: int) -> tuple[str, int]:
    if text[place : place + 1] not in ("{", '"'):
        bare = _match(_BARE, text, place)
        return bare[0], bare.end()
    quoted = text[place] == '"'
    depth = 0
    for mark in _MARKS.finditer(text, place):
        depth += {"{": 1, "}": -1, '"': 0}[mark[0]]
        closes = '"' if quoted else "}"
        if depth == 0 and mark[0] == closes and mark.start() > place:
            return text[place + 1 : mark.start()], mark.end()
        if depth < 0:
            break
    raise NotBibtexError(f"the value at {place} does not end")


def _match(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str]:
    found = pattern.match(text, place)
    if found is None:
        raise NotBibtexError(f"this is not BibTeX: {text[place : place + 40]!r}")
    return found


def main() -> None:
    """Print the mean F1 of bibtex.py on the visible paragraphs."""
    from bibtex import cite  # type: ignore[import-not-found]

    index = read_index(Path("data/papers.jsonl"))
    scores = [
        score_bibtex(cite(paragraph.text), paragraph.cited, index)
        for paragraph in read_paragraphs(Path("data/validation.csv"))
    ]
    print(f"validation f1={mean_score(scores):.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
