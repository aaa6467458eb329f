"""Take the pictures of docs/report: every section of a report, as a reader sees it.

    python -m tools.screenshots        every picture
    python -m tools.screenshots hero   only the picture of the README

The README shows the report of this project's own runs (docs/study-runs.jsonl). The
other first screens are of the paper's tables (tests/paper), in light, dark and on a
phone. The paper has no steps and tokens, so these sections show a simulated study
(benchmarks/report.py), whose title names it as such.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.report import study
from PIL import Image
from playwright.sync_api import BrowserContext, Page, sync_playwright
from tests.paper.fixture import paper_cards

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.page import write_report

PICTURES = Path(__file__).parent.parent / "docs" / "report"
STUDY = PICTURES.parent / "study-runs.jsonl"
LARGEST = 300_000
TALLEST, HERO = 1_700, 1_000
WIDE, PHONE = 1180, 390
FROM_PAPER = ("agents", "success", "improvement-by-task", "categories")
FROM_STUDY = (
    *("curves", "budgets", "spending", "failures", "checks"),
    *("runs", "endings", "compare"),
)
_EXACT = Image.Dither.NONE
# What sticks to the window would lie over a picture taller than the window.
UNSTUCK = ".filters, #runs thead { position: static !important }"


def main() -> int:
    """Take every picture; fails where one is too large."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context()
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
        created=cards[-1].created[:10],
        cards=cards,
    )
    page = opened(context, write_report(view, folder / "own.html"), WIDE, "light")
    take_top(page, "hero", HERO)
    page.close()


def take_all(context: BrowserContext, folder: Path) -> None:
    """Write both reports and take their pictures."""
    paper = write_report(paper_view(), folder / "paper.html")
    made_up = write_report(study(), folder / "study.html")
    for scheme in ("light", "dark"):
        for path, what in ((paper, "paper"), (made_up, "study")):
            page = opened(context, path, WIDE, scheme)
            take_top(page, f"{what}-{scheme}")
            page.close()
    take_sections(context, paper, FROM_PAPER)
    take_sections(context, made_up, FROM_STUDY)
    take_run(context, made_up)
    phone = opened(context, paper, PHONE, "light")
    take_top(phone, "phone")
    phone.close()


def paper_view() -> ExperimentView:
    """Return the paper's runs as an experiment."""
    return ExperimentView(
        title="The paper's tables 3 and 4", created="2024-04-14", cards=paper_cards()
    )


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


def take_top(page: Page, name: str, height: int = TALLEST) -> None:
    """Take the first screens of a page."""
    width = page.viewport_size["width"] if page.viewport_size else WIDE
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path, clip=clip, full_page=True)
    shrink(path)


def take_sections(
    context: BrowserContext, report: Path, sections: tuple[str, ...]
) -> None:
    """Take each section by itself, as far down as is of use."""
    page = opened(context, report, WIDE, "light")
    for name in sections:
        path = PICTURES / f"{name}.png"
        page.locator(f"section#{name}").screenshot(path=path)
        shrink(path)
    page.close()


def take_run(context: BrowserContext, report: Path) -> None:
    """Take the first run's fold, open."""
    page = opened(context, report, WIDE, "light")
    fold = page.locator("details#run-1")
    fold.locator("summary").first.click()
    path = PICTURES / "run.png"
    fold.screenshot(path=path)
    shrink(path)
    page.close()


def shrink(path: Path) -> None:
    """Cut a picture's foot off, and where it is large keep 256 of its colours."""
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
