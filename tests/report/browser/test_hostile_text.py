"""Whatever agents write stays text."""

import pytest

from mlagentbench.core.trace import Ending, Measurement, Trace
from mlagentbench.report.data import ExperimentView, TaskFacts

ATTACK = (
    "<a href='//x'>y</a></script><img src=x onerror=alert(1)>"
    "<script>alert(2)</script>{{7*7}}"
)


@pytest.fixture(scope="module")
def hostile(card, step) -> ExperimentView:
    bad = card(
        agent=ATTACK, model=f"<b>{ATTACK}", ending=Ending.CRASHED,
        reason=f"x\u202e{ATTACK}", submission_error=ATTACK, actions={ATTACK: 1},
    )  # fmt: skip
    good = card(agent=ATTACK, seed=1)
    steps = [
        step(
            good.run, number, action=ATTACK, ok=False, error=ATTACK,
            input={ATTACK: ATTACK, "\ud800": "\ud800\x00"}, fields={"Thought": ATTACK},
            observation=f"{ATTACK}\x1b[31m\x00\u2028",
            validation=Measurement(metric=ATTACK, value=20000.0 - number),
        )
        for number in (1, 2)
    ]  # fmt: skip
    facts = TaskFacts(
        name="house-price@1/mini", title=ATTACK, metric=ATTACK, direction="lower",
        unit=ATTACK, summary=ATTACK, starter=good.starter,
    )  # fmt: skip
    return ExperimentView(
        title=ATTACK,
        created=ATTACK,
        cards=(bad, good),
        tasks=(facts,),
        traces=(Trace(run=good.run, steps=tuple(steps)), Trace(run=ATTACK)),
        packages={ATTACK: ATTACK},
        notes=(ATTACK,),
    )


def test_hostile_text_stays_text(opened, hostile):
    page = opened(hostile)
    page.draw_all()
    page.open_folds()
    page.tab.locator("#improvement .points path").last.hover(force=True)
    page.tab.wait_for_selector("#improvement .hoverlayer text")
    hover = page.tab.locator("#improvement .hoverlayer").text_content()
    assert "<a href='//x'>y</a></script><img src=x" in hover
    assert page.tab.locator("img, body b b, svg a").count() == 0
    assert page.tab.locator("script").count() == 12
    assert "{{7*7}}" in page.tab.locator("h1").inner_text()
    assert "[U+202E]" in page.tab.locator(".why").first.inner_text()
    assert "\u241b[31m\u2400" in page.tab.locator("pre").first.inner_text()
    assert page.dialogs == []
    assert page.complaints == []
    assert page.requests == [page.address]


def test_hostile_text_does_not_widen_the_page(opened, hostile):
    page = opened(hostile, width=375)
    page.open_folds()
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
