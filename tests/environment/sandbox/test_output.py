"""Keeping the head and the tail of a stream."""

import os

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.environment.sandbox.process import HeadAndTail


def kept(limit: int, *pieces: bytes) -> HeadAndTail:
    keeper = HeadAndTail(limit)
    for piece in pieces:
        keeper.feed(piece)
    return keeper


def test_what_fits_is_kept_whole():
    keeper = kept(10, b"01234", b"56789")
    assert keeper.contents() == b"0123456789"
    assert not keeper.dropped


def test_the_middle_is_dropped_and_said_to_be():
    keeper = kept(10, b"abcdefgh", b"ijklmnop")
    assert keeper.contents() == b"abcde\n[... 6 bytes dropped ...]\nlmnop"
    assert keeper.dropped


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=1, max_value=50))
def test_head_tail_and_count_are_right_however_it_arrives(pieces, limit):
    whole = b"".join(pieces)
    keeper = kept(limit, *pieces)
    if len(whole) <= limit:
        assert keeper.contents() == whole
    else:
        head, tail = whole[: limit - limit // 2], whole[len(whole) - limit // 2 :]
        dropped = len(whole) - limit
        marker = f"\n[... {dropped} bytes dropped ...]\n".encode()
        assert keeper.contents() == head + marker + tail


def test_a_long_stream_takes_no_more_memory_than_its_limit():
    keeper = HeadAndTail(1000)
    for _ in range(1000):
        keeper.feed(os.urandom(10_000))
    assert len(keeper.contents()) < 1100
