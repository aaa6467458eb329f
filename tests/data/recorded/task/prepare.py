"""Points of one curve, in three parts."""

import math
from pathlib import Path

from mlagentbench.tasks.archives import Archives

ROWS = 40


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write the data; `archives` are not needed."""
    data = public / "data"
    data.mkdir()
    rows = [(number, number * 0.37 % 1) for number in range(3 * ROWS)]
    parts = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    (data / "train.csv").write_text(_table(parts[0]))
    (data / "validation.csv").write_text(_table(parts[1]))
    asked = "".join(f"{number},{x:.4f}\n" for number, x in parts[2])
    (data / "test.csv").write_text(f"Id,x\n{asked}")
    (private / "answers.csv").write_text(_table(parts[2], lift=100 * tamper))


def _table(rows: list[tuple[int, float]], *, lift: float = 0.0) -> str:
    lines = [f"{number},{x:.4f},{_curve(x) + lift:.4f}\n" for number, x in rows]
    return f"Id,x,y\n{''.join(lines)}"


def _curve(x: float) -> float:
    return 10 + 3 * x + math.sin(9 * x)
