"""Take the pictures of docs/report: every section of a report, as a reader sees it.

    python -m tools.screenshots        every picture
    python -m tools.screenshots hero   only the picture of the README

The README shows the report of this project's own runs (docs/study-runs.jsonl).

Reports of one run and of many, in light, dark and 400 pixels wide. The one run is
tests/data/recorded/research, the many are docs/suite-runs.jsonl. The paper's tables
come from tests/paper. Sections that need steps are of a made-up study
(benchmarks/report.py), and its title says so.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.report import study
from PIL import Image
from playwright.sync_api import BrowserContext, Page, sync_playwright
from tests.paper.fixture import paper_cards

from mlagentbench.core import Scorecard
from mlagentbench.experiment import Experiment
from mlagentbench.report import task_facts, view_of
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.page import write_report
from mlagentbench.tasks import load_task

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "report"
STUDY = ROOT / "docs" / "study-runs.jsonl"
RECORDED = ROOT / "tests" / "data" / "recorded"
LARGEST = 300_000
TALLEST, HERO = 1_700, 1_000
WIDE, PHONE = 1180, 400
FROM_PAPER = ("agents", "success", "improvement-by-task", "categories")
FROM_STUDY = (
    *("normalised", "curves", "costs", "budgets", "spending", "time", "failures"),
    *("checks", "runs", "endings", "compare"),
)
_EXACT = Image.Dither.NONE
# What sticks to the window would be over a picture taller than the window.
UNSTUCK = ".filters, #runs thead { position: static !important }"


def main() -> int:
    """Take every picture; exit with 1 if one is too large."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context()
        context.set_default_timeout(300_000)  # A busy machine is slow, not broken.
        take_hero(context, Path(name))
        if "hero" not in sys.argv[1:]:
            take_all(context, Path(name))
        browser.close()
    large = [p.name for p in PICTURES.glob("*.png") if p.stat().st_size >= LARGEST]
    print(f"{len(list(PICTURES.glob('*.png')))} pictures in {PICTURES}")
    if large:
        print(f"too large: {', '.join(large)}")
    return 1 if large else 0


def take_hero(context: BrowserContext, folder: Path) -> None:
    """Take the first screen of the report of the runs in docs/study-runs.jsonl."""
    lines = STUDY.read_text().splitlines()
    cards = tuple(map(Scorecard.model_validate_json, lines))
    view = ExperimentView(
        title="A small model on house-price: four agents, five runs each",
        created=cards[-1].created,
        cards=cards,
    )
    path = write_report(view, folder / "own.html")
    take_top(context, path, "hero", WIDE, "light", height=HERO)


def take_all(context: BrowserContext, folder: Path) -> None:
    """Write the reports and take their pictures."""
    paper = write_report(paper_view(), folder / "paper.html")
    made_up = write_report(study(), folder / "study.html")
    own = write_report(suite_view(), folder / "suite.html")
    one = write_report(one_run(folder), folder / "run.html")
    for scheme in ("light", "dark"):
        for path, what in ((paper, "paper"), (own, "suite"), (one, "run")):
            take_top(context, path, f"{what}-{scheme}", WIDE, scheme)
        for path, what in ((own, "suite"), (one, "run")):
            take_top(context, path, f"{what}-400-{scheme}", PHONE, scheme)
    take_sections(context, paper, FROM_PAPER)
    take_sections(context, made_up, FROM_STUDY)
    take_details(context, made_up)


def paper_view() -> ExperimentView:
    """Return the paper's runs as an experiment."""
    return ExperimentView(
        title="The paper's tables 3 and 4", created="2024-04-14", cards=paper_cards()
    )


def suite_view() -> ExperimentView:
    """Return the runs of docs/suite-runs.jsonl as an experiment."""
    lines = (ROOT / "docs" / "suite-runs.jsonl").read_text().splitlines()
    cards = [Scorecard.model_validate(json.loads(line)["card"]) for line in lines]
    names = dict.fromkeys(card.task for card in cards)
    return ExperimentView(
        title="Every task of the suite",
        created=max(card.created for card in cards),
        cards=tuple(cards),
        tasks=tuple(task_facts(load_task(name)) for name in names),
    )


def one_run(folder: Path) -> ExperimentView:
    """Return the recorded run of a research agent."""
    copy = folder / "quick-research"
    shutil.copytree(RECORDED / "research", copy)
    spec = copy / "experiment.json"
    spec.write_text(spec.read_text().replace("@TASK@", str(RECORDED / "task")))
    return view_of([Experiment(copy)])


def opened(context: BrowserContext, path: Path, width: int, scheme: str) -> Page:
    """Open a report with every chart drawn."""
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(path.as_uri())
    page.add_style_tag(content=UNSTUCK)
    for moment in ("beforeprint", "afterprint"):
        page.evaluate(f"dispatchEvent(new Event('{moment}'))")
    page.wait_for_timeout(500)
    return page


def take_top(  # what makes one picture
    context: BrowserContext,
    report: Path,
    name: str,
    width: int,
    scheme: str,
    *,
    height: int = TALLEST,
) -> None:
    """Take the first screens of a page."""
    page = opened(context, report, width, scheme)
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, clip=clip, full_page=True)
    shrink(path)
    page.close()


def take_sections(
    context: BrowserContext, report: Path, sections: tuple[str, ...]
) -> None:
    """Take each section, as far down as is of use."""
    page = opened(context, report, WIDE, "light")
    for name in sections:
        path = PICTURES / f"{name}.png"
        page.locator(f"section#{name}").screenshot(path=path)
        shrink(path)
    page.close()


def take_details(context: BrowserContext, report: Path) -> None:
    """Take the details of the first run."""
    page = opened(context, report, WIDE, "light")
    details = page.locator("details#run-1")
    details.evaluate("element => { element.open = true; }")
    path = PICTURES / "details.png"
    details.screenshot(path=path)
    shrink(path)
    page.close()


def shrink(path: Path) -> None:
    """Cut a picture's foot off; if it is large, keep 256 of its colours."""
    with Image.open(path) as picture:
        cut = picture.convert("RGB").crop(
            (0, 0, picture.width, min(picture.height, TALLEST))
        )
    cut.save(path, optimize=True)
    if path.stat().st_size >= LARGEST:
        # Small marks carry meaning: rare colours must stay what they are.
        few = cut.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=_EXACT)
        few.save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
