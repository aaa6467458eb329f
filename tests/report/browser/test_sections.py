"""Every section, in light and dark, wide and on a phone."""

import pytest
from tests.paper.fixture import paper_cards

from mlagentbench.report.data import ExperimentView

SECTIONS = (
    *("agents", "success", "improvement-by-task", "categories", "curves", "budgets"),
    *("spending", "failures", "checks", "runs", "endings", "compare", "steps"),
)
# Text whose colour is too close to what lies behind it, as WCAG counts.
FAINT = """() => {
  const paper = document.createElement("canvas");
  const canvas = paper.getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    colours.forEach((c) => { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); });
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const ground = (e) => getComputedStyle(e).backgroundColor;
  const grounds = (e) => (e ? [...grounds(e.parentElement), ground(e)] : ["white"]);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const faint = (e) => {
    const behind = grounds(e);
    const a = light(paint(behind));
    const b = light(paint([...behind, getComputedStyle(e).color]));
    return Math.max(a, b) / Math.min(a, b) < 4.5;
  };
  const texts = "td, td small, th, p, dd, dt, a, summary, label";
  return [...document.querySelector("main").querySelectorAll(texts)]
    .filter((e) => e.checkVisibility() && e.textContent.trim() && faint(e))
    .map((e) => `${e.className}: ${e.textContent.slice(0, 40)}`).slice(0, 5);
}"""
CUT_OFF = """() => {
  const labels = document.querySelectorAll("[data-chart] .ytick text, .xtick text");
  return [...labels].filter((text) => {
    const own = text.getBoundingClientRect();
    const chart = text.closest("[data-chart]").getBoundingClientRect();
    return own.left < chart.left - 1 || own.right > chart.right + 1;
  }).map((text) => text.textContent);
}"""


def test_every_section_is_there_and_linked(opened, experiment):
    page = opened(experiment)
    for name in SECTIONS:
        assert page.tab.locator(f"section#{name}").count() == 1
        assert page.tab.locator(f"nav.contents a[href='#{name}']").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_what_lies_behind_it(opened, experiment, scheme):
    page = opened(experiment)
    page.tab.emulate_media(color_scheme=scheme)
    page.open_folds()
    assert page.tab.evaluate(FAINT) == []


def test_names_in_charts_are_not_cut_off(opened, experiment):
    page = opened(experiment)
    page.draw_all()
    assert page.tab.locator("[data-chart] .ytick text").count() > 20
    assert page.tab.evaluate(CUT_OFF) == []


@pytest.fixture(scope="module")
def paper() -> ExperimentView:
    return ExperimentView(title="The paper", created="2024", cards=paper_cards())


@pytest.mark.parametrize("width", [390, 1280])
def test_the_papers_eight_agents_fit(opened, paper, width):
    page = opened(paper, width=width)
    page.draw_all()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    average = page.tab.locator("#success tr.average").inner_text()
    for rate in ("19.2", "26.0", "16.3", "37.5", "18.3", "3.8", "10.4"):
        assert rate in average
    assert page.complaints == []
    assert page.requests == [page.address]
