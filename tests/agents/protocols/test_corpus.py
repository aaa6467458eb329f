"""Replies that are hard to parse, each with its expected request."""

import json
from pathlib import Path

import pytest

from mlagentbench.agents.protocols.ask import find_protocol
from mlagentbench.agents.protocols.reply_protocol import Malformed

REPLIES = sorted((Path(__file__).parents[2] / "data" / "replies").glob("*.json"))


def test_the_corpus_has_replies_of_a_real_model():
    sources = [
        json.loads(path.read_text(encoding="utf-8"))["source"] for path in REPLIES
    ]
    assert sources.count("written") >= 15
    assert sources.count("qwen2.5-coder-1.5b") >= 6


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_a_reply_is_parsed_as_expected(path, reply_format, reply):
    case = json.loads(path.read_text(encoding="utf-8"))
    output = reply(case["reply"], case.get("calls", ()), stop=case["stop_reason"])
    result = find_protocol(case["language"], "text").parse(output, reply_format)
    expected = case["expected"]
    if isinstance(result, Malformed):
        action = result.request.action if result.request else None
        assert expected.get("why", "a move") in result.why
        assert action == expected["action"]
    else:
        assert result.action == expected["action"]
        assert result.input == expected.get("given")
