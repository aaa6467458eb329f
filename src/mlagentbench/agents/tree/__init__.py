"""Search over a tree of solutions."""
