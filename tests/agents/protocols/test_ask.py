"""The choice of a protocol, one request for an action, and text that is cleaned."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from mlagentbench.agents.protocols.ask import ask_for_action, find_protocol
from mlagentbench.agents.protocols.json_reader import read_leniently
from mlagentbench.agents.protocols.reply_protocol import ActionRequest
from mlagentbench.core.text import clean_text

WHOLE = 'Action: Read File\nAction Input: {"file_name": "a"}'
numbers = st.integers(-(10**18), 10**18) | st.floats(
    allow_nan=False, allow_infinity=False
)
documents = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


class Asked:
    """A context that can only be asked, and keeps the config of the request."""

    def __init__(self, output):
        self.output = output
        self.config = None

    async def ask(self, messages, *, role="main", tools=(), config=None):
        self.config = config
        return self.output


def ask(output, reply_format, protocol="text"):
    context = Asked(output)
    messages = [ChatMessageUser(content="Go on.")]
    protocol = find_protocol(protocol, "text")
    found = asyncio.run(
        ask_for_action(context, protocol, reply_format, messages, GenerateConfig())
    )
    return found, context


def test_a_reply_is_parsed_in_the_protocol_of_the_request(reply_format, reply):
    found, context = ask(reply(WHOLE), reply_format)
    assert isinstance(found.result, ActionRequest)
    assert context.config.stop_seqs == ["Observation:"]
    assert not found.too_long


@pytest.mark.parametrize(
    ("stop", "why", "too_long"),
    [
        ("content_filter", "refused", False),
        ("model_length", "too long", True),
        ("max_tokens", "cut off by the length limit", False),
    ],
)
def test_a_reply_that_stopped_early_is_malformed(
    stop, why, too_long, reply_format, reply
):
    found, _ = ask(reply(WHOLE, stop=stop), reply_format)
    assert why in found.result.why
    assert found.too_long is too_long


@pytest.mark.parametrize("protocol", ["text", "tools", "schema"])
def test_no_reply_at_all_is_malformed(protocol, reply_format):
    found, _ = ask(ModelOutput(), reply_format, protocol)
    assert found.result.why


def test_auto_is_the_protocol_that_the_provider_prefers():
    assert find_protocol("auto", "tools") is find_protocol("tools", "text")


@given(st.text(st.characters()))
def test_clean_text_can_be_encoded_and_cleaning_again_changes_nothing(text):
    clean = clean_text(text)
    clean.encode()
    assert clean_text(clean) == clean
    assert clean.count("\t") == text.count("\t")


def test_clean_text_keeps_lines_and_joins_halves():
    assert clean_text("a\r\nb\tc\x00\x1b\x85") == "a\nb\tc"
    assert clean_text("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"


@given(documents, st.booleans())
def test_the_lenient_reader_agrees_with_json_on_valid_json(document, ascii_only):
    text = json.dumps(document, ensure_ascii=ascii_only)
    value, end = read_leniently(text)
    # Escaped halves of a character are joined later, when the text is cleaned.
    assert clean_text(json.dumps(value, ensure_ascii=False)) == clean_text(
        json.dumps(document, ensure_ascii=False)
    )
    assert end == len(text)
