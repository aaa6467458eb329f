"""Long text made short."""

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.text import shortened


@given(st.text(), st.integers(2, 50))
def test_short_text_stays_and_long_text_keeps_head_and_tail(text, limit):
    short = shortened(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        half = limit // 2
        assert short.startswith(text[:half])
        assert short.endswith(text[-half:])
        assert f"{len(text) - 2 * half} characters left out" in short
