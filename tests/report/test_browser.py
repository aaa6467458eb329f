"""The page as a reader meets it, in a real browser."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from mlagentbench.core.ending import Ending
from mlagentbench.core.trace import Measurement, Trace
from mlagentbench.report.page import write_report
from mlagentbench.report.view import ExperimentView, TaskFacts

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ATTACK = "</script><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}"


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

    def __init__(self, tab: Page, address: str) -> None:
        self.tab = tab
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("dialog", self._refuse)
        tab.goto(address)
        self.address = address

    def _refuse(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def column(self, place: int) -> list[str]:
        cells = f"table.runs tbody tr > :nth-child({place})"
        return self.tab.eval_on_selector_all(
            cells, "cells => cells.map(cell => cell.dataset.value)"
        )

    def sort_by(self, label: str) -> None:
        self.tab.get_by_role("button", name=label, exact=True).click()


@pytest.fixture
def opened(browser, tmp_path):
    tabs = []

    def open_page(view: ExperimentView, *, width: int = 1280) -> Opened:
        path = write_report(view, tmp_path / "report.html")
        tab = browser.new_page()
        tabs.append(tab)
        tab.set_viewport_size({"width": width, "height": 900})
        return Opened(tab, path.as_uri())

    yield open_page
    for tab in tabs:
        tab.close()


@pytest.fixture
def hostile(card, step) -> ExperimentView:
    bad = card(
        agent=ATTACK,
        model=f"<b>{ATTACK}",
        ending=Ending.CRASHED,
        reason=f"x\u202e{ATTACK}",
        submission_error=ATTACK,
        actions={ATTACK: 1},
    )
    good = card(agent=ATTACK, seed=1)
    steps = [
        step(
            good.run,
            number,
            action=ATTACK,
            input={ATTACK: ATTACK, "\ud800": "\ud800\x00"},
            fields={"Thought": ATTACK},
            observation=f"{ATTACK}\x1b[31m\x00\u2028",
            ok=False,
            error=ATTACK,
            validation=Measurement(metric=ATTACK, value=20000.0 - number),
        )
        for number in (1, 2)
    ]
    facts = TaskFacts(
        name="house-price@1/mini",
        title=ATTACK,
        metric=ATTACK,
        direction="lower",
        unit=ATTACK,
        summary=ATTACK,
        starter=good.starter,
    )
    return ExperimentView(
        title=ATTACK,
        created=ATTACK,
        cards=(bad, good),
        tasks=(facts,),
        traces=(Trace(run=good.run, steps=tuple(steps)), Trace(run=ATTACK)),
        packages={ATTACK: ATTACK},
        notes=(ATTACK,),
    )


def test_the_page_opens_without_complaint_and_asks_for_nothing(opened, experiment):
    page = opened(experiment)
    assert page.tab.locator("#improvement svg.main-svg").count() > 0
    assert page.tab.locator(".multiples svg.main-svg").count() >= 4
    assert page.complaints == []
    assert page.requests == [page.address]


def test_a_click_sorts_and_a_second_click_turns_it_around(opened, experiment):
    page = opened(experiment)
    page.sort_by("Improvement")
    gains = [float(value) for value in page.column(8) if value]
    assert gains == sorted(gains)
    page.sort_by("Improvement")
    gains = [float(value) for value in page.column(8) if value]
    assert gains == sorted(gains, reverse=True)
    header = page.tab.locator("table.runs th[aria-sort]")
    assert header.get_attribute("aria-sort") == "descending"
    assert header.inner_text() == "Improvement"


def test_runs_without_a_score_stay_last_in_both_orders(opened, experiment):
    page = opened(experiment)
    for _ in range(2):
        page.sort_by("Score")
        scores = page.column(6)
        assert scores.count("") == 5
        assert scores[-5:] == [""] * 5


def test_the_table_sorts_by_keyboard(opened, experiment):
    page = opened(experiment)
    page.tab.get_by_role("button", name="Agent", exact=True).focus()
    page.tab.keyboard.press("Enter")
    agents = page.column(2)
    assert agents == sorted(agents)


def test_a_task_in_the_table_leads_to_its_open_steps(opened, experiment):
    page = opened(experiment)
    page.tab.locator("table.runs tbody a").nth(4).click()
    page.tab.wait_for_selector("#run-5[open]")
    assert page.tab.locator("#run-5 .steps > li").count() == 14


@pytest.mark.parametrize(
    ("scheme", "first", "second"),
    [("light", "rgb(250, 250, 248)", "rgb(19, 22, 27)")]
    + [("dark", "rgb(19, 22, 27)", "rgb(250, 250, 248)")],
)
def test_colours_follow_the_system_until_the_button_is_pressed(
    opened, experiment, scheme, first, second
):
    page = opened(experiment)
    page.tab.emulate_media(color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    label = "document.querySelector('#improvement .ytick text').style.fill"
    assert page.tab.evaluate(paper) == first
    before = page.tab.evaluate(label)
    page.tab.locator("button.theme").click()
    assert page.tab.evaluate(paper) == second
    assert page.tab.evaluate(label) != before


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_the_page_never_scrolls_sideways(opened, experiment, width):
    page = opened(experiment, width=width)
    page.tab.evaluate(
        "document.querySelectorAll('details').forEach(d => d.open = true)"
    )
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width


def test_charts_follow_the_width_of_the_window(opened, experiment):
    page = opened(experiment)
    page.tab.set_viewport_size({"width": 375, "height": 700})
    chart = page.tab.locator("#improvement svg.main-svg").first
    page.tab.wait_for_function(
        "document.querySelector('#improvement .main-svg').clientWidth < 375"
    )
    assert chart.bounding_box()["width"] <= 375


def test_hostile_text_stays_text(opened, hostile):
    page = opened(hostile)
    page.tab.evaluate(
        "document.querySelectorAll('details').forEach(d => d.open = true)"
    )
    page.tab.locator("#improvement .points path").last.hover(force=True)
    page.tab.wait_for_selector("#improvement .hoverlayer text")
    assert "<img src=x" in page.tab.locator("#improvement .hoverlayer").text_content()
    assert page.tab.locator("img, body b b, svg a").count() == 0
    assert page.tab.locator("script").count() == 4
    assert "{{7*7}}" in page.tab.locator("h1").inner_text()
    assert "[U+202E]" in page.tab.locator(".apart, .why").first.inner_text()
    assert "\u241b[31m\u2400" in page.tab.locator("pre").first.inner_text()
    assert page.dialogs == []
    assert page.complaints == []
    assert page.requests == [page.address]


def test_hostile_text_does_not_widen_the_page(opened, hostile):
    page = opened(hostile, width=375)
    page.tab.evaluate(
        "document.querySelectorAll('details').forEach(d => d.open = true)"
    )
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_script_that_slipped_through_would_not_run(opened, experiment):
    page = opened(experiment)
    page.tab.evaluate(
        "document.body.insertAdjacentHTML('beforeend',"
        ' \'<img src="data:," onerror="alert(1)">\')'
    )
    page.tab.wait_for_timeout(200)
    assert page.dialogs == []
    assert any("Content Security Policy" in text for text in page.complaints)


def test_without_scripts_the_tables_are_all_there(browser, experiment, tmp_path):
    path = write_report(experiment, tmp_path / "report.html")
    context = browser.browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator("table.runs tbody tr").count() == len(experiment.cards)
    assert tab.get_by_text("Charts need JavaScript").first.is_visible()
    assert not tab.locator("button.theme").is_visible()
    context.close()


def test_print_is_light_and_fits_the_paper(opened, experiment):
    page = opened(experiment)
    page.tab.emulate_media(color_scheme="dark", media="print")
    page.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    body = "getComputedStyle(document.body)"
    assert page.tab.evaluate(f"{body}.backgroundColor") == "rgb(255, 255, 255)"
    assert page.tab.evaluate(f"{body}.color") == "rgb(28, 33, 40)"
    chart = page.tab.locator("#improvement svg.main-svg").first
    assert chart.bounding_box()["width"] <= 660
