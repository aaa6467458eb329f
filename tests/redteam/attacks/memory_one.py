"""Take 800 MB in one process."""

from evidence import take

held = []
take(800, 20, lambda: held.append(b"x" * 20_000_000))
