import json

import pytest

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_papers import Paper, numbered, read_texts, write_papers


def paper(pmid):
    return Paper(
        pmid=pmid,
        title="Sleep after stroke",
        authors=("Abel, Jane",),
        year="2021",
        journal="Brain",
        volume="3",
        pages="1-9",
        sections=(("METHODS", "They slept."), ("CONCLUSIONS", "It works.")),
        headings=frozenset({"Circadian Rhythm"}),
        keywords=("insomnia",),
    )


def test_numbers_do_not_depend_on_the_order_of_the_source():
    papers = [paper(str(number)) for number in range(20)]
    assert numbered(papers, "salt") == numbered(papers[::-1], "salt")
    assert numbered(papers, "salt") != numbered(papers, "pepper")
    assert [*numbered(papers, "salt").values()] != papers


def test_what_is_shown_of_a_record_is_neither_its_number_nor_what_is_held_back(
    tmp_path,
):
    shown = tmp_path / "papers.jsonl"
    papers = numbered([paper("314159")], "salt")
    write_papers(shown, papers, lambda paper: paper.before_conclusions)
    (line,) = shown.read_text().splitlines()
    assert json.loads(line)["id"] == "P00001"
    assert json.loads(line)["abstract"] == "They slept."
    for held_back in ("works", "Circadian", "insomnia", "314159"):
        assert held_back not in line


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"\xff",
        b"{}",
        b'"ab"',
        b'["a"]',
        b'["a", "b", "c"]',
        b'["a", 1]',
        b'["a", null]',
        b'["a", "\\ud800"]',
        b'["a", "' + b"x" * 100_001 + b'"]',
        b"[" * 100_000,
        b"[" + b"9" * 5000 + b", 1]",
    ],
)
def test_an_output_that_is_not_the_texts_asked_for_is_refused(tmp_path, output):
    path = tmp_path / "output"
    path.write_bytes(output)
    with pytest.raises(SubmissionError):
        read_texts(path, 2)


def test_texts_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "output"
    path.write_text(json.dumps(["ä", ""]))
    assert read_texts(path, 2) == ["ä", ""]
