"""Every section, in light and dark, wide and on a phone."""

from itertools import product

import pytest
from tests.paper.fixture import paper_cards

from mlagentbench.report.data import ExperimentView

SECTIONS = (
    *("agents", "success", "improvement-by-task", "categories", "curves", "budgets"),
    *("spending", "time", "failures", "checks", "runs", "endings", "compare", "steps"),
)
# Both look at text of an element's own that a reader sees. Numbers in stacked bars are
# painted on the bars: tests/report/test_colours.py has their contrast.
TEXTS = """
  const own = (e) => [...e.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
  const bars = "[data-chart=outcomes] .bars, [data-chart=time] .bars, .hush, .skip";
  const texts = [...document.querySelectorAll("main *, footer *")].filter(
    (e) => own(e).length && e.checkVisibility() && !e.closest(bars));
  const kind = (e) => `${e.tagName} ${e.getAttribute("class")}`;
  const named = (e) => `${kind(e)}: ${e.textContent.slice(0, 40)}`;
"""
# Text whose colour is too close to what is behind it, by WCAG's formula.
FAINT = f"""() => {{ {TEXTS}
  const paper = document.createElement("canvas");
  const canvas = paper.getContext("2d", {{ willReadFrequently: true }});
  const paint = (colours, last = 1) => {{
    colours.forEach((c, i) => {{
      canvas.globalAlpha = i === colours.length - 1 ? last : 1;
      canvas.fillStyle = c;
      canvas.fillRect(0, 0, 1, 1);
    }});
    canvas.globalAlpha = 1;
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }};
  const ground = (e) => getComputedStyle(e).backgroundColor;
  const grounds = (e) => (e ? [...grounds(e.parentElement), ground(e)] : ["white"]);
  const seen = (e) => (e ? getComputedStyle(e).opacity * seen(e.parentElement) : 1);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => {{
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  }};
  const ink = (e) => getComputedStyle(e)[e.closest("svg") ? "fill" : "color"];
  const faint = (e) => {{
    const behind = grounds(e);
    const a = light(paint(behind));
    const b = light(paint([...behind, ink(e)], seen(e)));
    return Math.max(a, b) / Math.min(a, b) < 4.5;
  }};
  return texts.filter(faint).map(named).slice(0, 5);
}}"""
# Text that an element above it cuts off or hides until it is scrolled sideways; only
# code may be scrolled.
CLIPPED = f"""() => {{ {TEXTS}
  const hides = (e) => e === document.documentElement
    || getComputedStyle(e).overflowX !== "visible";
  const boxes = (e) => (e ? [...boxes(e.parentElement), e] : []).filter(hides);
  const outside = (e) => {{
    const range = document.createRange();
    return own(e).some((node) => {{
      range.selectNodeContents(node);
      const text = range.getBoundingClientRect();
      return boxes(e).some((box) => {{
        const within = box.getBoundingClientRect();
        return text.left < within.left - 1 || text.right > within.right + 1;
      }});
    }});
  }};
  return texts.filter((e) => !e.closest("pre") && outside(e)).map(named).slice(0, 5);
}}"""


KINDS = ("one_run", "experiment", "scored")
QUICK = {(400, "dark", "one_run"), (1280, "light", "scored")}


@pytest.mark.parametrize(
    ("width", "scheme", "kind"),
    [
        pytest.param(*page, marks=[] if page in QUICK else pytest.mark.slow)
        for page in product((400, 1280), ("light", "dark"), KINDS)
    ],
)
def test_text_is_complete_and_can_be_read(opened, request, kind, scheme, width):
    page = opened(request.getfixturevalue(kind), width=width)
    page.tab.emulate_media(color_scheme=scheme)
    page.open_folds()
    page.draw_all()
    assert page.tab.locator("[data-chart]:has(svg.main-svg)").count() >= 2
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert page.tab.evaluate(CLIPPED) == []
    assert page.tab.evaluate(FAINT) == []
    assert page.complaints == []


def test_one_run_has_a_panel_for_each_split(opened, one_run):
    page = opened(one_run)
    page.draw_all()
    lines = ".annotation-text"
    validation, test = (
        page.tab.locator(f"[data-chart={split}]") for split in ("validation", "test")
    )
    assert validation.locator(lines).count() == 0
    assert test.locator(lines).all_text_contents() == [
        *("starter", "success", "reference")
    ]


def test_a_step_named_in_the_story_opens(opened, one_run):
    page = opened(one_run)
    assert not page.tab.locator("#run-1").get_attribute("open")
    page.tab.locator("#experiments a").last.click()
    page.tab.wait_for_selector("#run-1[open]")


def test_every_section_is_there_and_linked(opened, experiment):
    page = opened(experiment)
    for name in SECTIONS:
        assert page.tab.locator(f"section#{name}").count() == 1
        assert page.tab.locator(f"nav.contents a[href='#{name}']").count() == 1


def test_score_against_cost_has_a_chart_for_each_unit(opened, scored):
    page = opened(scored)
    page.draw_all()
    charts = page.tab.locator("#costs [data-chart=cost]:has(svg.main-svg)")
    assert charts.count() == 8
    lines = charts.first.locator(".annotation-text").all_text_contents()
    assert lines == ["starter", "tuning", "reference"]


@pytest.fixture(scope="module")
def paper() -> ExperimentView:
    return ExperimentView(title="The paper", created="2024", cards=paper_cards())


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_the_papers_eight_agents_fit(opened, paper, width):
    page = opened(paper, width=width)
    page.draw_all()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    average = page.tab.locator("#success tr.average").inner_text()
    for rate in ("19.2", "26.0", "16.3", "37.5", "18.3", "3.8", "10.4"):
        assert rate in average
    assert page.complaints == []
    assert page.requests == [page.address]
