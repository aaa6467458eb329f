import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.suite.bibtex_generation.metric import (
    Entry,
    NotBibtexError,
    parse,
    read_index,
    read_paragraphs,
    score_bibtex,
)
from mlagentbench.tasks.suite.bibtex_generation.paragraphs import KINDS, MARKER

TASK = "bibtex-generation"
STARTER = (load_task(TASK).folder / "starter" / "bibtex.py").read_text()
INDEX = {("sleepafterstroke", "2021"): "P1", ("dreams", "2020"): "P2"}
SLEEP = (
    "@article{sleep, author = {Abel, Jane}, title = {Sleep after {S}troke.},\n"
    ' journal = "Brain {and} mind", year = 2021,\n}'
)
DREAMS = SLEEP.replace("Sleep after {S}troke.", "Dre{\\'a}ms").replace("2021", "{2020}")
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
WORDS = st.text(
    st.characters(exclude_characters='{}"', categories=("L", "N", "P", "Z"))
)
VALUES = st.recursive(WORDS, lambda inner: inner.map("{{{}}}".format), max_leaves=3)
ENTRIES = st.builds(
    Entry,
    st.from_regex(r"[a-z]+", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9:_.-]+", fullmatch=True),
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4),
)
REMEMBERING = """
ANSWERS = {answers!r}
def cite(paragraph): return ANSWERS.get(paragraph, {otherwise!r})
"""
DRAWING = """
import numpy
def find(claim):
    found = scholar.search(claim, limit=4)
    return [found[place] for place in numpy.random.permutation(len(found))[:1]]
"""


@pytest.fixture(scope="module")
def records(prepared):
    lines = (prepared.public / "data" / "papers.jsonl").read_text().splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def visible(prepared):
    return read_paragraphs(prepared.public / "data" / "validation.csv")


@pytest.fixture(scope="module")
def hidden(prepared):
    return read_paragraphs(prepared.private / "answers.csv")


def written(entry, opening="{", closing="}"):
    fields = "".join(
        f",\n  {name} = {opening}{value}{closing}"
        for name, value in entry.fields.items()
    )
    return f"@{entry.kind}{{{entry.key}{fields}\n}}\n"


def bibtex_of(record):
    fields = {"author": " and ".join(record["authors"])}
    fields |= {name: record[name] for name in ("title", "journal", "year")}
    return written(Entry("article", record["id"], fields))


@given(st.lists(ENTRIES, max_size=4))
def test_well_formed_entries_are_read_as_they_were_written(entries):
    assert parse("".join(map(written, entries))) == entries
    assert parse("".join(written(entry, '"', '"') for entry in entries)) == entries


@given(st.text(st.sampled_from('@ab{}=", \n1')))
def test_any_text_is_read_or_refused(text):
    try:
        parse(text)
    except NotBibtexError:
        assert score_bibtex(text, {"P1"}, INDEX) == 0


@pytest.mark.parametrize(
    "unit",
    ["{", "}", '"', " ", "@", "@a{b,", "a=", "@a{b,c={", '@a{b,c="', "@a{b,c=1}", "1,"],
)
def test_the_longest_hostile_text_is_judged_in_no_time(unit):
    text = (unit * 100_000)[:100_000]
    began = time.process_time()
    for beginning in ("", "@a{b,c=", "@a{b,c={", '@a{b,c="', "@a{b,c=1,"):
        score_bibtex(beginning + text, {"P1"}, INDEX)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (SLEEP, 2 / 3),
        (SLEEP + DREAMS, 1),
        (SLEEP + SLEEP, 2 / 4),
        (SLEEP + DREAMS + SLEEP.replace("Sleep", "Invented"), 4 / 5),
        (SLEEP.replace("2021", "2020") + DREAMS, 2 / 4),
        (SLEEP.replace("author", "editor"), 0),
        (SLEEP.replace("{Abel, Jane}", "{ }"), 0),
        (f"Here it is: {SLEEP}", 0),
        (SLEEP + "}", 0),
        (SLEEP[:-1], 0),
        ("", 0),
    ],
)
def test_only_entries_that_parse_and_exist_count_as_found(text, score):
    assert score_bibtex(text, {"P1", "P2"}, INDEX) == score


def test_no_work_is_cited_twice_and_every_marker_stands_for_one(
    records, visible, hidden
):
    assert (len(visible), len(hidden)) == (30, 60)
    cited = [work for paragraph in (*visible, *hidden) for work in paragraph.cited]
    assert len(cited) == len({*cited}) == 90 * len(KINDS)
    assert {*cited} <= records.keys()
    for paragraph in (*visible, *hidden):
        assert paragraph.text.count(MARKER) == len(KINDS)


def test_titles_and_years_tell_records_apart(prepared, records):
    assert len(read_index(prepared.public / "data" / "papers.jsonl")) == len(records)


def test_no_conclusion_stands_in_the_index_and_no_title_in_a_paragraph(
    records, visible, hidden
):
    for paragraph in (*visible, *hidden):
        for sentence in paragraph.text.split(f" {MARKER}.")[:-1]:
            claim = sentence.split(". ")[-1]
            if len(claim.split()) >= 15:
                assert all(claim not in r["abstract"] for r in records.values())
        for work in paragraph.cited:
            assert records[work]["title"] not in paragraph.text


def test_what_is_asked_is_what_the_truth_is_about(prepared, hidden):
    for path in (prepared.private / "inputs").iterdir():
        asked = [paragraph.text for paragraph in hidden if paragraph.input == path.name]
        assert json.loads(path.read_text()) == asked


def test_remembered_answers_help_on_visible_paragraphs_only(judge, records, visible):
    answers = {
        paragraph.text: "".join(bibtex_of(records[work]) for work in paragraph.cited)
        for paragraph in visible
    }
    otherwise = answers[visible[0].text]
    remembering = REMEMBERING.format(answers=answers, otherwise=otherwise)
    assert judge(remembering).score == 1
    assert judge(remembering, split="hidden").score == 0


@pytest.mark.slow
def test_five_gradings_of_a_tool_that_draws_by_chance_give_one_score(judge):
    drawing = STARTER + DRAWING
    assert len({judge(drawing).score for _ in range(5)} - {None}) == 1


@pytest.mark.slow
def test_a_fake_service_and_invented_entries_gain_nothing(judge):
    honest = judge(STARTER).score
    fake = "def words(text): return []\ndef search(*_, **__): return []\n"
    assert judge(STARTER, scholar=fake).score == honest
    inventing = STARTER + (
        "\nhonest = cite\n"
        "def cite(paragraph):\n"
        "    made_up = '@article{x, author={A}, title={B}, journal={C}, year=2021}'\n"
        "    return honest(paragraph) + made_up\n"
    )
    assert judge(inventing).score < honest


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("return 'x' * 2**30", "bibtex.py: it ", marks=pytest.mark.slow),
        ("return 'x' * 2**20", "longer than 8388608 bytes"),
        ("return ['@article{a, b = 1}']", "no text"),
        ("return 'x' * 100_001", "longer than 100000 characters"),
    ],
)
def test_a_tool_that_does_not_answer_properly_is_refused(judge, body, reason):
    verdict = judge(f"def cite(paragraph): {body}\n")
    assert verdict.score is None
    assert reason in verdict.submission_error
