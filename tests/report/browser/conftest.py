"""A real browser, and pages opened in it with everything they complain about."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from mlagentbench.report.data import ExperimentView
from mlagentbench.report.page import write_report

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Not longer than a module: while it is open, its event loop runs in this thread, and
# no other test could run one of its own.
@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[BrowserContext]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("these tests look at the page in Chromium: install `chromium`")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"), executable_path=chromium, args=FLAGS
        )
        yield context
        context.close()


class Opened:
    """A page in a tab, with everything it complained about or asked for."""

    def __init__(self, tab: Page, view: ExperimentView, address: str) -> None:
        self.tab = tab
        self.view = view
        self.address = address
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("dialog", self._refuse)

    def load(self, *, width: int) -> None:
        """Load the page again, so that nothing is left of an earlier test."""
        for noted in (self.complaints, self.requests, self.dialogs):
            noted.clear()
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme="null", media="null")
        self.tab.goto(self.address)

    def _refuse(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def column(self, place: int) -> list[str]:
        cells = f"table.runs tbody tr > :nth-child({place})"
        return self.tab.eval_on_selector_all(
            cells, "cells => cells.map(cell => cell.dataset.value)"
        )

    def open_folds(self) -> None:
        self.tab.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = 1)"
        )

    def sort_by(self, label: str) -> None:
        runs = self.tab.locator("table.runs")
        runs.get_by_role("button", name=label, exact=True).click()

    def draw_all(self) -> None:
        """Draw the charts that are far down the page too, as before printing."""
        for moment in ("beforeprint", "afterprint"):
            self.tab.evaluate(f"dispatchEvent(new Event('{moment}'))")

    def choose(self, kind: str, *names: str) -> None:
        """Tick only these in one of the filter's lists."""
        choice = self.tab.locator(f".choice[data-kind={kind}]")
        choice.locator("summary").click()
        choice.get_by_role("button", name="none").click()
        for name in names:
            choice.get_by_label(name, exact=True).check()
        choice.locator("summary").click()


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Open a report; within a module, each is written and has its tab only once."""
    pages: list[Opened] = []

    def open_page(view: ExperimentView, *, width: int = 1280) -> Opened:
        page = next((page for page in pages if page.view is view), None)
        if page is None:
            path = tmp_path_factory.mktemp("page") / "report.html"
            address = write_report(view, path).as_uri()
            page = Opened(browser.new_page(), view, address)
            pages.append(page)
        page.load(width=width)
        return page

    return open_page
