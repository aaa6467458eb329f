"""Every run as CSV and the headline table as LaTeX."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mlagentbench.core import Scorecard, harmless, recording, write_atomically
from mlagentbench.report.averages import Average, Summary
from mlagentbench.report.number_format import hundredths
from mlagentbench.report.tables import Headline, headlines, suite_tables

Cell = str | int | float | bool | None

_BEGINS_A_FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")
_LONGEST_CELL = 2_000
_LONGEST_NAME = 200
_APART = {"process", "by_budget", "actions", "errors", "unpriced"}
"""Lists, and dictionaries whose keys agents choose: `_flat` writes each by itself."""
_PARTS = ("starter", "tuned", "reference", "best_step", "first_success", "opinion")
"""Records with several columns; a run without one has no columns for it."""

_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        # LaTeX turns two hyphens into one dash.
        "-": r"{-}",
    }
)


def write_table(path: Path, text: str) -> None:
    """Write a table to a file; a reader never sees half of it."""
    with recording(path, "choose another file"):
        write_atomically(path, text)


def runs_csv(
    cards: Sequence[Scorecard], experiments: Mapping[str, str] | None = None
) -> str:
    """Write one row per scorecard with every single value it holds.

    `experiments` names the experiment of each run, if there are several.
    """
    lines = [_flat(card) for card in cards]
    for line, card in zip(lines, cards, strict=True):
        if name := (experiments or {}).get(card.run):
            line |= {"run": card.run.removesuffix(f" in {name}"), "experiment": name}
    names = list(dict.fromkeys(name for line in lines for name in line))
    return table_text(names, ([line.get(name) for name in names] for line in lines))


def table_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table as CSV."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([cell(name) for name in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()


def cell(value: Cell) -> str | int | float:
    """Return numbers as they are and text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    text = harmless(value[:_LONGEST_CELL])
    return f"'{text}" if text.lstrip().startswith(_BEGINS_A_FORMULA) else text


def _flat(card: Scorecard) -> dict[str, Cell]:
    document = card.model_dump(mode="json", exclude=_APART)
    absent = {name for name in _PARTS if document[name] is None}
    values = {k: v for k, v in document.items() if k not in absent}
    after = {
        f"after_{point.steps}_steps_{name}": getattr(point, name)
        for point in card.by_budget
        for name in ("score", "success")
    }
    found = {f"found_{name}": check.value for name, check in card.process.items()}
    return {
        **dict(_values("", values)),
        "counts": card.counts,
        "score_name": card.score_name,
        "actions": _counted(card.actions),
        "errors": _counted(card.errors),
        "unpriced": " ".join(card.unpriced),
        **after,
        **found,
    }


def _values(path: str, value: object) -> Iterator[tuple[str, Cell]]:
    """Name every value by its path; of lists only those of numbers are written."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(f"{path}_{key}" if path else str(key), inner)
    elif isinstance(value, list):
        if all(isinstance(one, int | float) for one in value):
            yield path, " ".join(map(str, value))
    elif value is None or isinstance(value, str | int | float):
        yield path, value


def _counted(counts: dict[str, int]) -> str:
    return "; ".join(f"{name[:80]} {count}" for name, count in counts.items())


def headline_latex(cards: Sequence[Scorecard]) -> str:
    """Write one booktabs table per edition: an agent a row, the best first."""
    lines = [
        "% Needs \\usepackage{booktabs}. Averages over tasks, with 95 % intervals.",
        "% Success and improvement are in percent. A normalised score is 0 for the",
        "% starter and 1 for the reference. A run without a valid submission has no",
        "% improvement and a normalised score of 0.",
    ]
    for headline in headlines(suite_tables(cards)):
        scored = headline.lead == "normalised"
        if headline.without and scored:
            lines.append(f"% Runs without a normalised score: {headline.without}.")
        lines += [
            f"% Edition: {escaped(headline.edition)}",
            f"\\begin{{tabular}}{{l{'r' * (4 + scored)}}}",
            "\\toprule",
            f"Agent{scored * ' & Normalised'} & Success & Improvement & Runs & Tasks"
            " \\\\",
            "\\midrule",
            *(_row(one, headline) for one in headline.standings),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Write text without any LaTeX command; non-ASCII becomes a question mark."""
    shown = (
        one if one.isascii() and one.isprintable() else " " if one.isspace() else "?"
        for one in text[:_LONGEST_NAME]
    )
    return "".join(shown).translate(_TEX)


def _row(found: Summary, headline: Headline) -> str:
    averages = f"{_average(found.success)} & {_average(found.improvement_all)}"
    if headline.lead == "normalised":
        averages = f"{_average(found.normalised.average, hundredths)} & {averages}"
    runs = f"{found.counted.successes}/{found.counted.runs}"
    return (
        f"{escaped(found.column.who)} & {averages} & {runs}"
        f" & {len(found.tasks)} of {headline.tasks} \\\\"
    )


def _average(
    average: Average | None, write: Callable[[float], str] | None = None
) -> str:
    if average is None:
        return "--"
    here, write = average.here, write or _tenths
    bounds = f" [{write(here.low)}, {write(here.high)}]" if here.bounded else ""
    return write(here.value) + bounds


def _tenths(fraction: float) -> str:
    written = f"{100 * fraction:.1f}"
    return f"${written}$" if written.startswith("-") else written
