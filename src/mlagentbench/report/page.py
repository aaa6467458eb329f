"""One experiment as one HTML page that needs no network and trusts no text."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.task import SUCCESS_BAR
from mlagentbench.evaluation.statistics.tallies import tally
from mlagentbench.report import numbers
from mlagentbench.report.charts import charts
from mlagentbench.report.editions import editions
from mlagentbench.report.filters import choices
from mlagentbench.report.headline import headlines
from mlagentbench.report.own_files import script_hashes, scripts, style
from mlagentbench.report.plain import embedded, harmless
from mlagentbench.report.run_sections import run_sections
from mlagentbench.report.view import ExperimentView, TaskFacts


def render(experiment: ExperimentView) -> str:
    """Write an experiment as one page of HTML."""
    parts = editions(experiment.cards)
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            view=experiment,
            **run_sections(experiment),
            total=tally(experiment.cards),
            headlines=headlines([part.table for part in parts]),
            parts=parts,
            choices=choices(experiment.cards),
            tasks=_task_facts(experiment),
            sandboxes=_sandboxes(experiment),
            charts=charts(experiment, parts),
            style=style(),
            scripts=scripts(),
            script_hashes=script_hashes(),
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
        tenths=numbers.tenths,
        shade=numbers.shade,
        gain_shade=numbers.gain_shade,
        compact=numbers.compact,
        duration=numbers.duration,
        dollars=numbers.dollars,
        embedded=embedded,
    )
    environment.globals.update(success_bar=SUCCESS_BAR)
    return environment


def _harmless_output(value: object) -> object:
    return value if isinstance(value, Markup) else harmless(str(value))


def _task_facts(view: ExperimentView) -> list[TaskFacts]:
    facts = {item.name: item for item in map(view.facts, view.cards)}
    return list(facts.values())


def _sandboxes(view: ExperimentView) -> list[SandboxUsed]:
    return list({str(card.sandbox): card.sandbox for card in view.cards}.values())
