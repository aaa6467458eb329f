"""The page as a reader meets it."""

import pytest

from mlagentbench.report.page import write_report


def test_the_page_opens_without_complaint_and_asks_for_nothing(opened, experiment):
    page = opened(experiment)
    page.draw_all()
    charts = page.tab.locator("[data-chart]").count()
    assert charts == 15
    assert page.tab.locator("[data-chart]:has(svg.main-svg)").count() == charts
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


def test_a_task_in_the_table_leads_to_its_open_steps(opened, experiment):
    page = opened(experiment)
    page.tab.locator("table.runs tbody a").nth(4).click()
    page.tab.wait_for_selector("#run-5[open]")
    assert page.tab.locator("#run-5 .steps > li").count() > 0


@pytest.mark.parametrize(
    ("scheme", "first", "second"),
    [
        ("light", "rgb(250, 250, 248)", "rgb(19, 22, 27)"),
        ("dark", "rgb(19, 22, 27)", "rgb(250, 250, 248)"),
    ],
)
def test_colours_follow_the_system_until_the_button_is_pressed(
    opened, experiment, scheme, first, second
):
    page = opened(experiment)
    page.tab.emulate_media(color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    label = "document.querySelector('#improvement .ytick text').style.fill"
    page.draw_all()
    assert page.tab.evaluate(paper) == first
    before = page.tab.evaluate(label)
    page.tab.locator("button.theme").click()
    assert page.tab.evaluate(paper) == second
    assert page.tab.evaluate(label) != before


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(opened, experiment, width):
    page = opened(experiment, width=width)
    page.open_folds()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width


def test_charts_follow_the_width_of_the_window(opened, experiment):
    page = opened(experiment)
    page.draw_all()
    page.tab.set_viewport_size({"width": 375, "height": 700})
    chart = page.tab.locator("#improvement svg.main-svg").first
    page.tab.wait_for_function(
        "document.querySelector('#improvement .main-svg').clientWidth < 375"
    )
    assert chart.bounding_box()["width"] <= 375


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
