"""Any reply of a model is parsed into a request or a complaint; nothing raises.

Replies that are hard to parse stand in tests/data/replies, with their requests.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.protocols.ask import find_protocol
from mlagentbench.agents.protocols.reply_protocol import ActionRequest, Malformed
from mlagentbench.agents.protocols.text_fields import split_sections
from mlagentbench.core.text import clean_text

WHOLE = {
    "text": 'Thought: see\nAction: Read File\nAction Input: {"file_name": "train.py"}',
    "schema": '{"thought": "see", "action": "Read File", "input": {"file_name": "a"}}',
    "tools": '<tool_call>\n{"name": "read_file", "arguments": {"file_name": "a"}}',
}
PIECES = [
    *("Thought:", "\nAction: Read File", "\n**Action:** `write_file`", "\nAction: no"),
    *("\n## Action Input\n", "\nAction Input: ", "\nObservation: done"),
    *("\nACTION\uff1a", "Final Answer", "Execute Script", "{}", "Check Submission"),
    *('{"action": "Read File", "input": ', '{"name": "read_file", "arguments": '),
    *('{"file_name": "train.py"}', '{"file_name": 3', '"content": "print("hi")"}'),
    *("{'script_name': 'a.py',}", '"""', "'''", "```json\n", "\n```", "</think>"),
    *("<tool_call>", "<think>", "null", "NaN", "1e999", "True", "9" * 5000),
    *("[" * 3000, '{"a":' * 300, "}" * 5, '"', "'", "\\", "{", "}", ",", ": ", "*"),
    *("\x00", "\x1b[31m", "\ud800", "\udc00", "\\ud83d", "\u202e", "\r\n", "\t"),
    *("\uff1a\u201c", "思考\uff1a读取文件", "Мысль:", "\u2028", "é", " ", "\n"),
]


def stuffed(recipe):
    """Return the text that bytes describe; one draw for each reply is fast."""
    if len(recipe) < 4:
        return "".join(PIECES[number % len(PIECES)] for number in recipe)
    kind, cut, ending, *numbers = recipe
    whole = sorted(WHOLE.values())[kind % 3] if kind < 180 else ""
    at = cut % (len(whole) + 1)
    stuffing = "".join(PIECES[number % len(PIECES)] for number in numbers)
    return whole[:at] + stuffing + (whole[at:] if ending < 128 else "")


recipes = st.lists(st.binary(max_size=16), min_size=10, max_size=10)
ODD = {
    "nothing": None,
    "truth": True,
    "huge": 10**5000,
    "no number": float("nan"),
    "half": "\udfff",
    "nested": [[{"a": [1]}]],
    "deep": json.loads("[" * 900 + "]" * 900),
    "text": "train.py",
}
NAMES = ["read_file", "Write File", "nothing", "\ud800", ""]
KEYS = ["file_name", "content", "x\x00"]


def made_up(recipe):
    """Return up to two tool calls, with arguments that no tool expects."""
    odd = sorted(ODD)
    return [
        (NAMES[name % 5], {KEYS[key % 3]: ODD[odd[value % 8]]})
        for name, key, value in zip(
            recipe[::3], recipe[1::3], recipe[2::3], strict=False
        )
    ][:2]


values = st.text(st.characters(), max_size=30)


def check(result, reply_format):
    """Check that it is a request that can be taken and recorded, or a complaint."""
    assert isinstance(result, ActionRequest | Malformed)
    result.model_dump_json().encode()
    if isinstance(result, Malformed):
        assert result.why
        return
    assert set(result.input) == set(reply_format.known[result.action].parameters)
    assert all(isinstance(value, str) for value in result.input.values())


@pytest.mark.parametrize("name", ["text", "schema"])
def test_any_text_is_a_request_or_a_complaint(name, reply_format, reply):
    protocol = find_protocol(name, "text")

    @given(recipes)
    def run(ten):
        for recipe in ten:
            stop = "max_tokens" if len(recipe) == 9 else "stop"
            check(
                protocol.parse(reply(stuffed(recipe), stop=stop), reply_format),
                reply_format,
            )

    run()


def test_any_calls_are_a_request_or_a_complaint_and_all_are_answered(
    reply_format, reply
):
    protocol = find_protocol("tools", "text")

    @given(recipes)
    def run(ten):
        for recipe in ten:
            made = made_up(recipe[::-1]) if len(recipe) % 2 else []
            output = reply(stuffed(recipe), made)
            check(protocol.parse(output, reply_format), reply_format)
            said, *answers = protocol.exchange(output, "seen")
            said.model_dump_json().encode()
            assert len(answers) == max(1, len(made))

    run()


@st.composite
def requests(draw, reply_format):
    """Draw any request for an action of the format, with any text in it."""
    action = draw(
        st.sampled_from(sorted(reply_format.known.values(), key=lambda a: a.name))
    )
    inputs = {name: draw(values) for name in action.parameters}
    fields = {field: clean_text(draw(values)).strip() for field in reply_format.fields}
    return ActionRequest(
        action=action.name,
        input={name: clean_text(value) for name, value in inputs.items()},
        fields={field: text for field, text in fields.items() if text},
    )


def as_lines(request, reply_format):
    """Return a request without fields that hold headers, and its fields as text."""
    fields = {
        name: text
        for name, text in request.fields.items()
        if len(split_sections(text, reply_format)) == 1
    }
    written = "".join(f"{name}: {text}\n" for name, text in fields.items())
    return request.model_copy(update={"fields": fields}), written


def test_a_request_written_in_text_is_parsed_exactly(reply_format, reply):
    protocol = find_protocol("text", "text")

    @given(requests(reply_format), st.booleans(), st.sampled_from([None, 2]))
    def run(request, ascii_only, indent):
        request, fields = as_lines(request, reply_format)
        given = json.dumps(request.input, ensure_ascii=ascii_only, indent=indent)
        text = f"{fields}Action: {request.action}\nAction Input: {given}"
        assert protocol.parse(reply(text), reply_format) == request

    run()


def test_a_request_written_in_json_is_parsed_exactly(reply_format, reply):
    protocol = find_protocol("schema", "text")

    @given(requests(reply_format), st.booleans())
    def run(request, ascii_only):
        fields = {k.lower().replace(" ", "_"): v for k, v in request.fields.items()}
        said = {**fields, "action": request.action, "input": request.input}
        text = json.dumps(said, ensure_ascii=ascii_only)
        for around in ("{}", "```json\n{}\n```", "Here it is, for {{x}}: {} Good?"):
            assert protocol.parse(reply(around.format(text)), reply_format) == request

    run()


def test_a_request_made_as_a_call_is_parsed_exactly(reply_format, reply):
    protocol = find_protocol("tools", "text")

    @given(requests(reply_format))
    def run(request):
        request, fields = as_lines(request, reply_format)
        name = reply_format.known[request.action].tool_name
        native = reply(fields, [(name, dict(request.input))])
        assert protocol.parse(native, reply_format) == request
        call = json.dumps({"name": name, "arguments": request.input})
        written = reply(f"<tool_call>\n{call}\n</tool_call>")
        assert protocol.parse(written, reply_format).input == request.input

    run()


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
