"""One experiment as one HTML page that needs no network and trusts no text."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.task import SUCCESS_BAR
from mlagentbench.report import numbers
from mlagentbench.report.charts import charts
from mlagentbench.report.plain import embedded, harmless
from mlagentbench.report.rows import run_rows, unjudged_rows
from mlagentbench.report.tally import endings, standings, tally
from mlagentbench.report.view import ExperimentView, TaskFacts

_SCRIPTS = ("assets/plotly-basic.min.js", "templates/charts.js", "templates/page.js")


def render(experiment: ExperimentView) -> str:
    """Write an experiment as one page of HTML."""
    scripts = [_own_file(name) for name in _SCRIPTS]
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            view=experiment,
            rows=run_rows(experiment),
            unjudged=unjudged_rows(experiment),
            total=tally(experiment.cards),
            standings=standings(experiment.cards),
            endings=endings(experiment.cards),
            tasks=_task_facts(experiment),
            sandboxes=_sandboxes(experiment),
            charts=charts(experiment),
            style=_own_file("templates/style.css"),
            scripts=scripts,
            script_hashes=[_content_hash(script) for script in scripts],
        )
    )


def write_report(experiment: ExperimentView, path: Path) -> Path:
    """Render an experiment into `path`, which never holds half a page."""
    page = render(experiment)
    try:
        write_atomically(path, page)
    except OSError as error:
        raise RecordError(
            f"The report cannot be written to {path} ({error.strerror}): "
            "name another place with --out."
        ) from error
    return path


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
    environment.filters.update(
        number=numbers.number,
        percent=numbers.percent,
        share=numbers.share,
        duration=numbers.duration,
        dollars=numbers.dollars,
        embedded=embedded,
        harmless=harmless,
    )
    environment.globals.update(success_bar=SUCCESS_BAR)
    return environment


def _harmless_output(value: object) -> object:
    return value if isinstance(value, Markup) else harmless(str(value))


@cache
def _own_file(name: str) -> Markup:
    text = files("mlagentbench.report").joinpath(name).read_text(encoding="utf-8")
    return Markup(text)


def _content_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _task_facts(view: ExperimentView) -> list[TaskFacts]:
    facts = {item.name: item for item in map(view.facts, view.cards)}
    return list(facts.values())


def _sandboxes(view: ExperimentView) -> list[SandboxUsed]:
    return list({str(card.sandbox): card.sandbox for card in view.cards}.values())
