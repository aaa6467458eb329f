"""A reply is a vote or it is unreadable."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.evaluation.llm_judge import CRITERIA
from mlagentbench.run.llm_judge.prompt import read_vote

GIVEN = {name: {"mark": 4, "reason": "Step 2."} for name in CRITERIA}
VOTE = json.dumps(GIVEN)
OTHER = VOTE.replace("4", "5")


@pytest.mark.parametrize(
    "reply",
    [
        VOTE,
        f"```json\n{VOTE}\n```",
        f"My vote is this:\n{VOTE}\nI hope it helps.",
        VOTE.replace("}}", "},}"),
    ],
    ids=["bare", "fenced", "in words", "with a comma too many"],
)
def test_the_one_object_of_a_reply_is_read(reply):
    found = read_vote(reply)
    assert {name: one.mark for name, one in found.judged.items()} == dict.fromkeys(
        CRITERIA, 4
    )


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no vote",
        "{",
        VOTE[:-10],
        f"{VOTE}\n{OTHER}",
        f"The agent wrote {{x}}. {VOTE}",
        f'{{"vote": {VOTE}}}',
        f"[{VOTE}, {VOTE}]",
        VOTE.replace("4", "6"),
        VOTE.replace("4", "4.0"),
        VOTE.replace("4", '"4"'),
        VOTE.replace("4", "true"),
        VOTE.replace("plan", "plans"),
        VOTE.replace('"Step 2."', '""'),
        VOTE.replace("Step 2.", "\\u0000"),
        VOTE.replace("Step 2.", "\\ud800"),
        VOTE[:-1] + ', "plan": {"mark": 5, "reason": "again"}}',
        VOTE[:-1] + ', "success": true}',
        "{" * 100_000,
        '{"plan":' * 5_000,
        " " * 30_000 + VOTE,
    ],
)
def test_whatever_is_not_exactly_one_vote_is_unreadable(reply):
    assert read_vote(reply) is None


def test_a_reason_is_shortened_and_holds_nothing_that_cannot_be_written():
    long = VOTE.replace("Step 2.", "\\u0000\\u001b[2J" + "x" * 5_000, 1)
    reason = read_vote(long).judged[CRITERIA[0]].reason
    assert reason.startswith("[2Jxxx")
    assert len(reason) < 400


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text):
    assert read_vote(text) is None
