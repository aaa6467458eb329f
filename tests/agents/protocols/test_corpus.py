"""Replies that were hard to understand, each with what it should be taken for."""

import json
from pathlib import Path

import pytest

from mlagentbench.agents.protocols.ask import language_for
from mlagentbench.agents.protocols.protocol import Malformed

REPLIES = sorted((Path(__file__).parents[2] / "data" / "replies").glob("*.json"))


def test_there_are_replies_of_a_real_model_too():
    sources = [
        json.loads(path.read_text(encoding="utf-8"))["source"] for path in REPLIES
    ]
    assert sources.count("written") >= 15
    assert sources.count("qwen2.5-coder-1.5b") >= 6


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_a_reply_is_taken_for_what_a_careful_reader_would(path, form, reply):
    case = json.loads(path.read_text(encoding="utf-8"))
    output = reply(case["reply"], case.get("calls", ()), stop=case["stop_reason"])
    understood = language_for(case["language"], "text").understand(output, form)
    expected = case["expected"]
    if isinstance(understood, Malformed):
        action = understood.move.action if understood.move else None
        assert expected.get("why", "a move") in understood.why
        assert action == expected["action"]
    else:
        assert understood.action == expected["action"]
        assert understood.given == expected.get("given")
