"""HTML pages: the report of experiments, and how far runs are."""

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Scorecard,
    embedded,
    harmless,
    recording,
    write_atomically,
)
from mlagentbench.evaluation import tally
from mlagentbench.report import number_format
from mlagentbench.report.averages import machines_differ, voided
from mlagentbench.report.caveats import accounts, budget_text, cautions
from mlagentbench.report.charts import charts
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.editions import editions
from mlagentbench.report.findings import STEPS_NAMED, agreement
from mlagentbench.report.noise import selection_note, untouched
from mlagentbench.report.number_format import PAGE, Caps, caps
from mlagentbench.report.run_rows import (
    RunDetails,
    RunRow,
    only_run,
    run_rows,
    run_title,
    tiles,
    ungraded_rows,
)
from mlagentbench.report.run_status import StatusTable
from mlagentbench.report.run_steps import executed, failure, observation, texts
from mlagentbench.report.tables import headlines
from mlagentbench.report.terminal import levels_text


def render(experiment: ExperimentView) -> str:
    """Write an experiment as one page of HTML."""
    parts = editions(experiment.cards)
    limits = caps(len(experiment.cards) + len(experiment.ungraded))
    facts = [experiment.facts(card) for card in experiment.cards]
    # Some runs of a task may have no valid baseline; the others show it.
    facts.sort(key=lambda one: one.starter is not None)
    sandboxes = [card.sandbox for card in experiment.cards]
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            view=experiment,
            **run_sections(experiment, limits),
            caps=limits,
            total=tally(experiment.cards),
            voided=voided(experiment.cards),
            scored=any(card.normalised is not None for card in experiment.cards),
            several_forms=_several_forms(experiment.cards),
            machines_differ=machines_differ(experiment.cards),
            selection=selection_note(
                experiment.cards,
                experiment.traces_by_attempt(),
                {one.name: one.unit for one in facts},
            ),
            headlines=headlines([part.table for part in parts]),
            parts=parts,
            several_categories=any(len(part.table.categories) > 1 for part in parts),
            choices=choices(experiment.cards),
            tasks=list({one.name: one for one in facts}.values()),
            sandboxes=list({str(used): used for used in sandboxes}.values()),
            charts=charts(experiment, parts),
            style=style(),
            scripts=scripts(),
            script_hashes=script_hashes(),
        )
    )


def _several_forms(cards: Sequence[Scorecard]) -> frozenset[str]:
    """Return the tasks that are on the page in several versions or editions."""
    forms = {(card.task, card.score_name) for card in cards}
    count = Counter(task for task, _ in forms)
    return frozenset(task for task, number in count.items() if number > 1)


def write_report(experiment: ExperimentView, path: Path) -> Path:
    """Render an experiment into `path`, which never holds half a page."""
    page = render(experiment)
    with recording(path, "choose another file with --out"):
        write_atomically(path, page)
    return path


def write_status(
    title: str,
    line: str,
    tables: Sequence[StatusTable],
    path: Path,
    *,
    refresh: int | None,
) -> Path:
    """Write how far runs are; a browser reloads the page every `refresh` seconds."""
    page = (
        _templates()
        .get_template("status.html.j2")
        .render(
            title=title,
            line=line,
            written=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}",
            tables=[table for table in tables if table.rows],
            refresh=refresh,
            style=style(),
        )
    )
    with recording(path, "choose another file with --page"):
        write_atomically(path, page)
    return path


_FORMATS = (
    *("number", "percent", "share", "tenths", "hundredths"),
    *("shade", "improvement_shade"),
    *(
        "with_unit",
        "fitted",
        "fitting",
        "listed",
        "compact",
        "duration",
        "dollars",
        "moment",
    ),
)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mlagentbench.report"),
        autoescape=True,
        finalize=_harmless_output,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = (agreement, executed, failure, observation, texts, embedded, levels_text)
    filters = (*(getattr(number_format, name) for name in _FORMATS), *own)
    environment.filters.update({one.__name__: one for one in filters})
    environment.globals.update(
        success_threshold=SUCCESS_THRESHOLD, steps_named=STEPS_NAMED
    )
    return environment


def _harmless_output(value: object) -> object:
    return value if isinstance(value, Markup) else harmless(str(value))


_STYLES = ("style", "screens", "tables", "runs", "narrow")
_SCRIPTS = (
    *("common", "improvement", "curves", "averages", "shares"),
    *("drawing", "theme", "sorting", "filtering", "folds"),
)


@cache
def style() -> Markup:
    """Return the whole style sheet; what comes later may overrule."""
    return Markup("\n").join(_own(f"templates/{name}.css") for name in _STYLES)


@cache
def scripts() -> tuple[Markup, ...]:
    """Return what the page runs, in this order."""
    own = (f"templates/scripts/{name}.js" for name in _SCRIPTS)
    return tuple(map(_own, ("assets/plotly-basic.min.js", *own)))


@cache
def script_hashes() -> tuple[str, ...]:
    """Return what a content security policy knows each script by."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts())
    return tuple(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)


def _own(name: str) -> Markup:
    text = files("mlagentbench.report").joinpath(name).read_text(encoding="utf-8")
    return Markup(text)


def run_sections(view: ExperimentView, limits: Caps) -> dict[str, object]:
    """Return every run, how it ended, and what its scores can be compared with."""
    rows, ungraded = run_rows(view, limits), ungraded_rows(view, limits)
    alone = only_run(rows, ungraded)
    return {
        "rows": rows,
        "ungraded": ungraded,
        "alone": alone,
        "title": run_title(alone) if alone else view.title,
        "tiles": tiles(alone) if alone else (),
        "untouched": untouched(alone.card) if isinstance(alone, RunRow) else None,
        "accounts": accounts(view, rows, ungraded),
        "cautions": cautions(view),
        "budgets": {
            name: " or ".join(dict.fromkeys(map(budget_text, budgets)))
            for name, budgets in view.budgets.items()
        },
        "left_out": _left_out(
            [*(row.details for row in rows), *(row.details for row in ungraded)]
        ),
    }


def _left_out(runs: list[RunDetails]) -> str:
    """Describe which steps the page shows; empty if it shows all."""
    total = sum(run.total_steps for run in runs)
    shown = sum(len(run.steps) for run in runs)
    if shown == total:
        return ""
    return (
        f"{shown:,} of {total:,} steps are shown: those that findings name, failures,"
        " measurements and the last. This keeps the page below"
        f" {(PAGE + 300_000) // 1_000_000} MB."
    )


def choices(cards: Sequence[Scorecard]) -> dict[str, list[str]]:
    """Return the filters of the page; a kind with one name offers no choice."""
    found = {
        kind: list(dict.fromkeys(str(getattr(card, kind)) for card in cards))
        for kind in ("task", "agent", "model")
    }
    return {kind: names for kind, names in found.items() if len(names) > 1}
