from pathlib import Path

QUICK_TASK = Path(__file__).parents[1] / "data" / "recorded" / "task"
"""A measured task that is real in every part and done in a moment."""
