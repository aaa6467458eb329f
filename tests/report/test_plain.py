import json

from mlagentbench.core.record import Record
from mlagentbench.core.text import embedded, first_lines, harmless


class Said(Record):
    text: str
    value: float = 0.0


def test_control_characters_become_visible():
    assert harmless("a\x1b[31mb\x00\x7f") == "a\u241b[31mb\u2400\u2421"
    assert harmless("one\r\ntwo\tthree\rfour") == "one\ntwo\tthree\u240dfour"


def test_marks_that_turn_the_reading_direction_become_visible():
    assert harmless("safe\u202eexe.txt\u2066") == "safe[U+202E]exe.txt[U+2066]"


def test_broken_code_points_can_be_written_as_utf8():
    assert harmless("\ud800x\udfff").encode() == "\ufffdx\ufffd".encode()


def test_ordinary_text_of_any_language_stays_as_it_is():
    text = "Größe 模型 \U0001f469\u200d\U0001f52c <b> & 'x'"
    assert harmless(text) == text


def test_a_long_text_keeps_its_first_lines_and_says_what_is_missing():
    text = "\n".join(f"line {number}" for number in range(100))
    assert first_lines(text, lines=2, characters=500) == (
        "line 0\nline 1 ... (775 more characters)"
    )
    assert first_lines("x" * 50, lines=2, characters=10) == (
        "xxxxxxxxxx ... (40 more characters)"
    )


def test_a_short_text_is_kept_whole():
    assert first_lines("one\ntwo\n", lines=2, characters=100) == "one\ntwo"


def test_embedded_data_cannot_leave_its_element_and_reads_back_the_same():
    text = "</script><!-- & \u2028 \u2029 'x' \"y\""
    written = embedded(Said(text=text))
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written)["text"] == text


def test_embedded_numbers_that_json_lacks_become_null():
    assert json.loads(embedded(Said(text="", value=float("inf"))))["value"] is None
