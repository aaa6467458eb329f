"""A reader looks at some tasks, agents or models only."""

import pytest

from mlagentbench.report.data import ExperimentView


def visible(page, selector: str) -> int:
    return page.tab.locator(selector).filter(visible=True).count()


@pytest.fixture
def page(opened, experiment):
    return opened(experiment)


def test_a_task_filter_leaves_its_rows_charts_and_folds(page):
    page.draw_all()
    page.choose("task", "cifar10")
    assert visible(page, "#success tbody tr") == 1
    assert visible(page, "#curves figure") == 1
    assert visible(page, "table.runs tbody tr") == 9
    assert visible(page, "#steps details") == 9
    assert page.tab.locator("#improvement .ytick text").count() == 1
    assert page.complaints == []


def test_averages_say_that_the_filter_does_not_touch_them(page):
    average = page.tab.locator("#success tr.average").inner_text()
    assert visible(page, ".unfiltered") == 0
    page.choose("task", "cifar10")
    assert page.tab.locator("#success tr.average").inner_text() == average
    assert page.tab.locator("#success .unfiltered").is_visible()
    badge = "getComputedStyle(document.querySelector('tfoot th'), '::after').content"
    assert page.tab.evaluate(badge) == '"all tasks"'


def test_a_model_filter_hides_the_other_columns(page):
    page.draw_all()
    page.choose("model", "example/small")
    assert visible(page, "#success thead th") == 2
    assert visible(page, "#success tr.average td") == 1
    assert visible(page, "#agents tbody tr") == 1
    assert page.tab.locator("[data-chart=outcomes] .ytick text").count() == 1
    assert visible(page, ".unfiltered") == 0


def test_the_number_of_runs_left_is_said(page, experiment):
    said = page.tab.locator(".filters-said")
    everything = f"all {len(experiment.cards)} runs"
    assert said.inner_text() == everything
    page.choose("agent", "research")
    assert said.inner_text() == f"filtered: 12 of {len(experiment.cards)} runs"
    page.tab.get_by_role("button", name="Show everything").click()
    assert said.inner_text() == everything
    assert visible(page, "table.runs tbody tr") == len(experiment.cards)


def test_filters_work_together(page):
    page.choose("agent", "research")
    page.choose("task", "cifar10", "house-price")
    assert visible(page, "table.runs tbody tr") == 6
    assert visible(page, "#success tbody td") == 2


def test_choosing_nothing_shows_nothing_and_breaks_nothing(page):
    page.draw_all()
    page.choose("task")
    page.choose("agent")
    assert visible(page, "table.runs tbody tr") == 0
    assert page.complaints == []


def test_sorting_keeps_what_is_filtered_away_hidden(page):
    page.choose("task", "cifar10")
    page.sort_by("Improvement")
    assert visible(page, "table.runs tbody tr") == 9


def test_one_agent_on_one_task_has_nothing_to_choose(opened, card):
    page = opened(ExperimentView(title="t", created="now", cards=(card(),)))
    assert page.tab.locator(".filters").count() == 0
    assert page.complaints == []
