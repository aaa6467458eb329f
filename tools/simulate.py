"""Check the intervals and tests of `evaluation/statistics` on simulated studies.

    python tools/simulate.py                 print the tables; 2,000 studies a point
    python tools/simulate.py --studies 200   the same, faster and less sure
    python tools/simulate.py --write         also keep the result and write it into
                                             docs/simulation.md
    python tools/simulate.py --page          only write what was kept into the page

A simulated study has a known truth. So it can be counted how often an interval contains
it, and how often a comparison of two equal agents reports a difference.
"""

import argparse
import json
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from simulated_studies import Point, shares, study_points  # beside this file
from simulated_units import unit_points

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "simulation.md"
KEPT = DOCS / "simulation.json"
BEGIN = "<!-- simulation: written by tools/simulate.py -->"
END = "<!-- /simulation -->"

COVERAGE = (0.93, 0.98)
FALSE_ALARMS = 0.05

Row = dict[str, float | int | str]


def main() -> None:
    """Simulate, print, and keep the result where that was asked for."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--studies", type=int, default=2000)
    options.add_argument("--write", action="store_true")
    options.add_argument("--page", action="store_true")
    given = options.parse_args()
    rows = kept() if given.page else simulated(given.studies)
    print(tables(rows))
    if given.write:
        KEPT.write_text(_one_row_a_line(rows))
    if given.write or given.page:
        PAGE.write_text(with_tables(PAGE.read_text(), rows))
    sys.exit(0 if all(map(holds, grouped(rows).values())) else 1)


def points() -> list[Point]:
    """Return the complete grid."""
    return [*study_points(), *unit_points()]


def simulated(studies: int) -> list[Row]:
    """Make every study of every point of the grid, on all cores."""
    with ProcessPoolExecutor() as pool:
        made = pool.map(rows_at, range(len(points())), repeat(studies))
        return [row for rows in made for row in rows]


def rows_at(number: int, studies: int) -> list[Row]:
    """Make the studies of the point with this number: points cannot be pickled."""
    return rows_of(points()[number], studies)


def kept() -> list[Row]:
    """Read what was kept of the last simulation."""
    rows: list[Row] = json.loads(KEPT.read_text())
    return rows


def with_tables(page: str, rows: list[Row]) -> str:
    """Put the tables into the page, in place of what stood there."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{tables(rows)}\n{END}{after}"


def tables(rows: list[Row]) -> str:
    """Write a summary, and what it is the mean of."""
    groups = grouped(rows)
    summary = [_summary(name, group) for name, group in groups.items()]
    columns = ["method", "required", "grid points", "mean", "min", "max", "met"]
    detail = [_detail(name, group) for name, group in _by_size(rows).items()]
    head = f"{rows[0]['studies']:,} simulated studies at each point of the grid.\n\n"
    return (
        head
        + _table(columns, summary)
        + "\nTrue success rates or scores in these studies:\n\n"
        + "".join(map(_truths, groups.items()))
        + "\nBy number of tasks and of runs per task:\n\n"
        + _table(["method", "tasks", "runs", "mean", "min", "max"], detail)
    )


def _truths(named: tuple[str, list[Row]]) -> str:
    name, group = named
    truths = dict.fromkeys(str(row["truth"]) for row in group)
    return f"- {name}: {'; '.join(truths)}\n"


def grouped(rows: list[Row]) -> dict[str, list[Row]]:
    """Put the points together that are judged by their mean."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row["what"]), []).append(row)
    return groups


def holds(group: list[Row]) -> bool:
    """Tell whether a group is as it must be."""
    if group[0]["kind"] == "false alarms":
        return all(float(row["value"]) <= _most(int(row["studies"])) for row in group)
    if group[0]["kind"] == "exact":
        return all(map(_near_exact, group))
    mean = sum(float(row["value"]) for row in group) / len(group)
    return COVERAGE[0] <= mean <= COVERAGE[1]


def _most(studies: int) -> float:
    error = math.sqrt(FALSE_ALARMS * (1 - FALSE_ALARMS) / studies)
    return FALSE_ALARMS + 2 * error


def _near_exact(row: Row) -> bool:
    exact, studies = float(row["exact"]), int(row["studies"])
    error = math.sqrt(exact * (1 - exact) / studies)
    return abs(float(row["value"]) - exact) <= 3.5 * error + 1e-9


def _asked(group: list[Row]) -> str:
    if group[0]["kind"] == "false alarms":
        return f"each at most {_most(int(group[0]['studies'])):.1%}"
    if group[0]["kind"] == "exact":
        return "each as computed exactly"
    return f"mean {COVERAGE[0]:.0%} to {COVERAGE[1]:.0%}"


def _summary(name: str, group: list[Row]) -> list[str]:
    return [
        *(name, _asked(group), str(len(group))),
        *(_spread(group)),
        "yes" if holds(group) else "**no**",
    ]


def _detail(size: tuple[str, int, int], group: list[Row]) -> list[str]:
    return [*map(str, size), *_spread(group)]


def _spread(group: list[Row]) -> list[str]:
    values = [float(row["value"]) for row in group]
    return [f"{v:.1%}" for v in (sum(values) / len(values), min(values), max(values))]


def _by_size(rows: list[Row]) -> dict[tuple[str, int, int], list[Row]]:
    groups: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        size = (str(row["what"]), int(row["tasks"]), int(row["runs"]))
        groups.setdefault(size, []).append(row)
    return groups


def rows_of(point: Point, studies: int) -> list[Row]:
    """Make the studies of one point."""
    exact: Row = {} if point.exact is None else {"exact": round(point.exact, 6)}
    return [
        {
            "what": what,
            "kind": point.kind,
            "truth": point.truth,
            "tasks": point.tasks,
            "runs": point.runs,
            "studies": studies,
            "value": round(share, 6),
            **exact,
        }
        for what, share in shares(point, studies).items()
    ]


def _one_row_a_line(rows: list[Row]) -> str:
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    main()
