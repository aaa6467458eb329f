"""Take 800 MB in eight processes, none of which has much."""

from evidence import take_in_children


def fill():
    held = b"x" * 100_000_000
    return held, len(held)


take_in_children(800, fill, at_most=8)
