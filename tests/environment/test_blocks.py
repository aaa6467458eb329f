"""Long texts in blocks: nothing is lost, and every place is right."""

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.text import BLOCK_CHARACTERS, split

TEXTS = st.lists(st.text(alphabet="ab\n\r\u2028", max_size=30)).map("".join)


@given(TEXTS, st.integers(2, 20))
def test_the_blocks_together_are_the_text(text, limit):
    blocks = split(text, limit)
    assert "".join(block.text for block in blocks) == text
    assert all(0 < len(block.text) < limit for block in blocks)


@given(TEXTS, st.integers(2, 20))
def test_every_block_stands_where_it_says(text, limit):
    lines = text.split("\n")
    for block in split(text, limit):
        assert text[block.first_character - 1 : block.last_character] == block.text
        before = text[: block.first_character - 1]
        assert block.first_line == before.count("\n") + 1
        within = block.text.removesuffix("\n").count("\n")
        assert block.last_line == block.first_line + within <= len(lines)


@given(TEXTS, st.integers(2, 20))
def test_a_line_is_cut_only_where_it_is_too_long(text, limit):
    for block in split(text, limit)[:-1]:
        if not block.text.endswith("\n"):
            line = text.split("\n")[block.last_line - 1]
            assert len(line) + 1 >= limit


def test_by_default_no_block_has_ten_thousand_characters():
    sizes = [len(block.text) for block in split("x" * 25_000)]
    assert sizes == [BLOCK_CHARACTERS - 1, BLOCK_CHARACTERS - 1, 5_002]
