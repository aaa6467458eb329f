"""Choosing a language, asking in it, and what is made harmless on the way in."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from mlagentbench.agents.protocols.ask import ask_for_action, language_for
from mlagentbench.agents.protocols.json_reader import read_leniently
from mlagentbench.agents.protocols.protocol import ActionRequest
from mlagentbench.core.errors import UsageError
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
    """The one thing of a context that hearing needs, and what it was asked."""

    def __init__(self, output):
        self.output = output
        self.config = None

    async def ask(self, messages, *, role="main", tools=(), config=None):
        self.config = config
        return self.output


def heard(output, form, protocol="text"):
    context = Asked(output)
    messages = [ChatMessageUser(content="Go on.")]
    language = language_for(protocol, "text")
    found = asyncio.run(
        ask_for_action(context, language, form, messages, GenerateConfig())
    )
    return found, context


def test_a_move_is_heard_in_the_language_that_was_asked_in(form, reply):
    found, context = heard(reply(WHOLE), form)
    assert isinstance(found.understood, ActionRequest)
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
def test_a_reply_that_ended_badly_is_no_move(stop, why, too_long, form, reply):
    found, _ = heard(reply(WHOLE, stop=stop), form)
    assert why in found.understood.why
    assert found.too_long is too_long


@pytest.mark.parametrize("protocol", ["text", "tools", "schema"])
def test_no_reply_at_all_is_no_move(protocol, form):
    found, _ = heard(ModelOutput(), form, protocol)
    assert found.understood.why


def test_auto_is_what_the_provider_is_best_at_and_others_are_named():
    assert language_for("auto", "tools") is language_for("tools", "text")
    with pytest.raises(UsageError, match="choose text, tools, schema or auto"):
        language_for("morse", "text")


@given(st.text(st.characters()))
def test_clean_text_can_be_recorded_and_is_clean_for_good(text):
    clean = clean_text(text)
    clean.encode()
    assert clean_text(clean) == clean
    assert clean.count("\t") == text.count("\t")


def test_clean_text_keeps_lines_and_joins_halves():
    assert clean_text("a\r\nb\tc\x00\x1b\x85") == "a\nb\tc"
    assert clean_text("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"


@given(documents, st.booleans())
def test_lenient_reading_agrees_with_json_where_it_is_json(document, ascii_only):
    text = json.dumps(document, ensure_ascii=ascii_only)
    value, end = read_leniently(text)
    # Escaped halves of a character are joined later, where all text is cleaned.
    assert clean_text(json.dumps(value, ensure_ascii=False)) == clean_text(
        json.dumps(document, ensure_ascii=False)
    )
    assert end == len(text)
