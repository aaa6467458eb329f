import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.suite.literature_review_tool.metric import (
    list_references,
    ndcg,
    read_known,
    read_questions,
    score_report,
)
from mlagentbench.tasks.suite.literature_review_tool.prepare import topic_name

TASK = "literature-review-tool"
STARTER = (load_task(TASK).folder / "starter" / "review.py").read_text()
IDS = st.sampled_from([f"P{number:05}" for number in range(30)])
LISTING = """
LISTED = {listed!r}
def review(question):
    works = LISTED.get(question, {otherwise!r})
    cited = " ".join(f"[{{work}}]" for work in works)
    lines = "\\n".join(f"- [{{work}}]" for work in works)
    return (f"## Summary\\n{{'word ' * 30}}\\n## Related work\\n{{cited}}\\n"
            f"## Open questions\\nWhy?\\n## References\\n{{lines}}\\n")
"""
SHUFFLING = """
import random
ranked = find
def find(question):
    found = ranked(question)
    random.shuffle(found)
    return found
"""


@pytest.fixture(scope="module")
def visible(prepared):
    return read_questions(prepared.public / "data" / "validation.csv")


@pytest.fixture(scope="module")
def hidden(prepared):
    return read_questions(prepared.private / "answers.csv")


def listing(questions, otherwise=()):
    listed = {question.text: sorted(question.relevant) for question in questions}
    return LISTING.format(listed=listed, otherwise=list(otherwise))


def report(listed, cited=None, summary="word " * 30, asks="Why?"):
    cited = listed if cited is None else cited
    lines = "\n".join(f"- [{work}] Somebody (1977). Something." for work in listed)
    related = " ".join(f"[{work}]" for work in cited)
    return (
        f"# Report\n\n## Summary\n\n{summary}\n\n## Related work\n\n{related}\n\n"
        f"## Open questions\n\n{asks}\n\n## References\n\n{lines}\n"
    )


@given(st.lists(IDS, unique=True), st.sets(IDS, min_size=1))
def test_ranking_is_as_its_definition_says(ranked, relevant):
    gained = ideal = 0.0
    for rank in range(1, 21):
        if rank <= len(ranked) and ranked[rank - 1] in relevant:
            gained += 1 / math.log2(rank + 1)
        if rank <= len(relevant):
            ideal += 1 / math.log2(rank + 1)
    assert ndcg(ranked, relevant) == pytest.approx(gained / ideal)


@given(st.text())
def test_any_text_is_judged_between_0_and_1(text):
    assert 0 <= score_report(text, {"P00001"}, {"P00001"}) <= 1
    assert 0 <= score_report(f"## References\n{text}", {"P00001"}, {"P00001"}) <= 1


def test_a_perfect_report_loses_by_what_it_lacks_and_by_what_it_invents():
    works = [f"P{number:05}" for number in range(10)]

    def score(text):
        return score_report(text, works, works)

    assert score(report(works)) == 1
    assert score(report(works * 2)) == 1
    assert score(report(works, cited=works[:4])) == 0.75
    assert score(report(works, summary="short", asks="None.")) == 0.5
    assert score(report([*works, *(f"X{place}" for place in range(10))])) == 0.5
    assert score(report([])) == score("") == 0
    assert score(report(works).replace("## References", "## Works")) == 0


def test_references_are_lines_of_a_list_and_those_without_an_id_are_invented():
    section = "These:\n\n- [P1] A. [P9]\n  * [P2]\n[P3] B\n- P4\n- [P1]\n- [P 5]\n"
    assert list_references(section) == ["P1", "P2", "- P4", "- [P 5]"]
    half = report(["P1"], cited=[]) + "- Abel (1978). What nobody wrote.\n"
    assert score_report(half, {"P1"}, {"P1"}) == 0.5 * 0.75


def test_questions_are_on_different_topics_and_of_records_that_exist(
    prepared, visible, hidden
):
    known = read_known(prepared.public / "data" / "papers.jsonl")
    assert (len(known), len(visible), len(hidden)) == (8000, 30, 60)
    texts = [question.text for question in (*visible, *hidden)]
    assert len({*texts}) == 90
    for question in (*visible, *hidden):
        assert question.relevant <= known
        assert 10 <= len(question.relevant) <= 40
    for question in visible:
        shared = [len(question.relevant & other.relevant) for other in hidden]
        assert max(shared) < len(question.relevant)


def test_what_is_asked_is_what_the_truth_is_about(prepared, hidden):
    for path in (prepared.private / "inputs").iterdir():
        asked = [question.text for question in hidden if question.input == path.name]
        assert json.loads(path.read_text()) == asked


def test_headings_are_read_in_natural_order():
    assert topic_name("Rhinitis, Allergic, Seasonal") == "seasonal allergic rhinitis"
    assert topic_name("RNA, Messenger") == "messenger RNA"


def test_remembered_answers_help_on_visible_questions_only(judge, visible):
    remembering = listing(visible, otherwise=sorted(visible[0].relevant))
    assert judge(remembering).score == 1
    assert judge(remembering, split="hidden").score < 0.05


@pytest.mark.slow
def test_five_gradings_of_a_tool_that_draws_by_chance_give_one_score(judge):
    drawing = STARTER + SHUFFLING
    assert len({judge(drawing).score for _ in range(5)} - {None}) == 1


def test_a_fake_service_and_invented_references_gain_nothing(judge, visible):
    honest = judge(STARTER).score
    fake = "def words(text): return []\ndef search(*_, **__): return []\n"
    assert judge(STARTER, scholar=fake).score == honest
    invented = judge(
        listing(visible).replace("in works)", "in [*works, *map(str, range(60))])")
    )
    assert invented.score < honest


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("return 'x' * 2**30", "review.py: it ", marks=pytest.mark.slow),
        ("return 'x' * 2**20", "longer than 8388608 bytes"),
        ("return ['## Summary']", "no text"),
        ("return '## Summary' * 20_000", "longer than 100000 characters"),
    ],
)
def test_a_tool_that_does_not_answer_properly_is_refused(judge, body, reason):
    verdict = judge(f"def review(question): {body}\n")
    assert verdict.score is None
    assert reason in verdict.submission_error
