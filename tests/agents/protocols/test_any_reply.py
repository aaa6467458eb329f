"""Whatever a model says is understood or complained about, and never raises."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlagentbench.agents.protocols.ask import language_for
from mlagentbench.agents.protocols.protocol import ActionRequest, Malformed
from mlagentbench.agents.protocols.text_fields import sections
from mlagentbench.core.text import clean_text

# Ten replies each: what takes long is drawing, not understanding.
MANY = settings(
    max_examples=1_000,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
SOME = settings(max_examples=500, deadline=None)

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
    """Return what bytes describe; one draw per reply keeps ten thousand quick."""
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
    """Return up to two calls of tools, with arguments no tool expects."""
    odd = sorted(ODD)
    return [
        (NAMES[name % 5], {KEYS[key % 3]: ODD[odd[value % 8]]})
        for name, key, value in zip(
            recipe[::3], recipe[1::3], recipe[2::3], strict=False
        )
    ][:2]


values = st.text(st.characters(), max_size=30)


def check(understood, form):
    """See that it is a move which can be taken and recorded, or a complaint."""
    assert isinstance(understood, ActionRequest | Malformed)
    understood.model_dump_json().encode()
    if isinstance(understood, Malformed):
        assert understood.why
        return
    assert set(understood.given) == set(form.known[understood.action].parameters)
    assert all(isinstance(value, str) for value in understood.given.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text", "schema"])
def test_any_text_is_a_move_or_a_complaint(name, form, reply):
    language = language_for(name, "text")

    @MANY
    @given(recipes)
    def run(ten):
        for recipe in ten:
            stop = "max_tokens" if len(recipe) == 9 else "stop"
            check(language.understand(reply(stuffed(recipe), stop=stop), form), form)

    run()


@pytest.mark.slow
def test_any_calls_are_a_move_or_a_complaint_and_all_are_answered(form, reply):
    language = language_for("tools", "text")

    @MANY
    @given(recipes)
    def run(ten):
        for recipe in ten:
            made = made_up(recipe[::-1]) if len(recipe) % 2 else []
            output = reply(stuffed(recipe), made)
            check(language.understand(output, form), form)
            said, *answers = language.exchange(output, "seen")
            said.model_dump_json().encode()
            assert len(answers) == max(1, len(made))

    run()


@st.composite
def moves(draw, form):
    """Any move in the form's actions, with any text in it."""
    action = draw(st.sampled_from(sorted(form.known.values(), key=lambda a: a.name)))
    inputs = {name: draw(values) for name in action.parameters}
    said = {field: clean_text(draw(values)).strip() for field in form.fields}
    return ActionRequest(
        action=action.name,
        given={name: clean_text(value) for name, value in inputs.items()},
        said={field: text for field, text in said.items() if text},
    )


def test_a_move_written_in_text_is_understood_as_it_was_meant(form, reply):
    language = language_for("text", "text")

    @SOME
    @given(moves(form), st.booleans(), st.sampled_from([None, 2]))
    def run(move, ascii_only, indent):
        said = {k: v for k, v in move.said.items() if len(sections(v, form)) == 1}
        move = move.model_copy(update={"said": said})
        fields = "".join(f"{name}: {text}\n" for name, text in said.items())
        given = json.dumps(move.given, ensure_ascii=ascii_only, indent=indent)
        text = f"{fields}Action: {move.action}\nAction Input: {given}"
        assert language.understand(reply(text), form) == move

    run()


def test_a_move_written_in_json_is_understood_as_it_was_meant(form, reply):
    language = language_for("schema", "text")

    @SOME
    @given(moves(form), st.booleans())
    def run(move, ascii_only):
        fields = {k.lower().replace(" ", "_"): v for k, v in move.said.items()}
        said = {**fields, "action": move.action, "input": move.given}
        text = json.dumps(said, ensure_ascii=ascii_only)
        for around in ("{}", "```json\n{}\n```", "Here it is, for {{x}}: {} Good?"):
            assert language.understand(reply(around.format(text)), form) == move

    run()


def test_a_move_made_as_a_call_is_understood_as_it_was_meant(form, reply):
    language = language_for("tools", "text")

    @SOME
    @given(moves(form))
    def run(move):
        said = {k: v for k, v in move.said.items() if len(sections(v, form)) == 1}
        move = move.model_copy(update={"said": said})
        fields = "".join(f"{name}: {text}\n" for name, text in said.items())
        name = form.known[move.action].tool_name
        native = reply(fields, [(name, dict(move.given))])
        assert language.understand(native, form) == move
        call = json.dumps({"name": name, "arguments": move.given})
        written = reply(f"<tool_call>\n{call}\n</tool_call>")
        assert language.understand(written, form).given == move.given

    run()
