"""Take 800 MB in one process."""

from evidence import succeeded

held = [b"x" * 20_000_000 for _ in range(40)]
succeeded(f"{len(held) * 20} MB are held by one process")
