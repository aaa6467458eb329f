"""Works of the literature, as tasks that search it show them and ask about them.

What submitted code answers is read as hostile.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_regular_file
from mlagentbench.tasks.suite_data import drawn_order

LONGEST_TEXT = 100_000
"""No longer text is read from a submission's output."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Paper(NamedTuple):
    """One record, as far as tasks use it."""

    pmid: str
    title: str
    authors: tuple[str, ...]
    """Each as `Family, Given`; the first is the first author."""
    year: str
    journal: str
    volume: str
    pages: str
    sections: tuple[tuple[str, str], ...]
    """The abstract: the category of each section and its text."""
    headings: frozenset[str]
    """What indexers called a main topic of the work."""
    keywords: tuple[str, ...]
    """What its authors called it, in lower case."""

    @property
    def abstract(self) -> str:
        """The whole abstract."""
        return " ".join(text for _, text in self.sections)

    @property
    def conclusions(self) -> str:
        """What the section of conclusions says, if there is one."""
        return self._sections(lambda category: category == "CONCLUSIONS")

    @property
    def before_conclusions(self) -> str:
        """The abstract without its conclusions."""
        return self._sections(lambda category: category != "CONCLUSIONS")

    def _sections(self, wanted: Callable[[str], bool]) -> str:
        return " ".join(text for category, text in self.sections if wanted(category))


def numbered(papers: Iterable[Paper], salt: str) -> dict[str, Paper]:
    """Shuffle papers and give them ids that say nothing about them."""
    ordered = drawn_order(papers, salt, lambda paper: paper.pmid)
    return {f"P{number:05}": paper for number, paper in enumerate(ordered, start=1)}


def plain(title: str) -> str:
    """Reduce a title to its letters and digits."""
    return "".join(c for c in title.casefold() if c.isalnum())


def write_papers(
    path: Path, papers: Mapping[str, Paper], abstract: Callable[[Paper], str]
) -> None:
    """Write what a search service shows of each record, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number, paper in papers.items():
            shown = {
                "id": number,
                "title": paper.title,
                "authors": paper.authors,
                "year": paper.year,
                "journal": paper.journal,
                "volume": paper.volume,
                "pages": paper.pages,
                "abstract": abstract(paper),
            }
            file.write(json.dumps(shown, ensure_ascii=False) + "\n")


def write_inputs(folder: Path, inputs: Mapping[str, Sequence[str]]) -> None:
    """Write files of texts, each of which submitted code is asked about in one turn."""
    folder.mkdir(parents=True)
    for name, texts in inputs.items():
        written = json.dumps(texts, ensure_ascii=False, indent=1)
        (folder / name).write_text(written + "\n", encoding="utf-8")


def read_texts(path: Path, count: int) -> list[str]:
    """Read what submitted code answered: so many texts, none of them too long."""
    try:
        texts = json.loads(read_regular_file(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SubmissionError(f"{path.name}: the output is no list of texts") from error
    if not isinstance(texts, list) or len(texts) != count:
        raise SubmissionError(f"{path.name}: {count} texts were asked for")
    for text in texts:
        if not isinstance(text, str) or _SURROGATE.search(text):
            raise SubmissionError(f"{path.name}: an answer is no text")
        if len(text) > LONGEST_TEXT:
            raise SubmissionError(
                f"{path.name}: an answer is longer than {LONGEST_TEXT} characters"
            )
    return texts
