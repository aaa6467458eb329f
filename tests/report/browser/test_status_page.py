"""The page of `mlab status` for a study, as a browser shows it."""

import pytest

from mlagentbench.report.page import write_status
from mlagentbench.report.run_status import StatusTable

LINE = (
    "24 cells; 12 published, 2 running, 9 waiting, 1 failed; $1.20 of $20.00 for"
    " models; 1.4 h of work published; expected end in 2.1 h, at 2026-11-18 14:30 UTC"
)
CELL = "house-price-research-style-classic-a-model-with-a-long-name-3-0123456789ab"
TABLES = [
    StatusTable(
        title="Cells",
        columns=[
            *("task", "agent", "published", "running", "waiting", "failed"),
            *("success", "time", "cost"),
        ],
        rows=[
            [
                *("house-price@1/mini", "research[style=classic] / example/large"),
                *("12", "2", "9", "1", "7 of 12", "1.4 h", "$1.20"),
            ]
        ],
    ),
    StatusTable(
        title="Running cells",
        columns=["cell", "place", "step", "cost", "last record"],
        rows=[[CELL, "node-17, process 4711", "12", "$0.10", "2026-11-18T12:00:00"]],
    ),
    StatusTable(
        title="Failed cells",
        columns=["cell", "attempts", "reason"],
        rows=[[CELL, "2", f"broken: {'a/path/without/any/space' * 8} <b>is full</b>"]],
    ),
    StatusTable(title="Empty", columns=["cell"], rows=[]),
]


@pytest.fixture
def tab(browser, tmp_path):
    page = write_status("small", LINE, TABLES, tmp_path / "status.html", refresh=5)
    tab = browser.new_page()
    tab.complaints, tab.requests = [], []
    tab.on("console", lambda message: tab.complaints.append(message.text))
    tab.on("request", lambda request: tab.requests.append(request.url))
    tab.goto(page.as_uri())
    yield tab
    tab.close()


def test_the_page_shows_every_table_with_rows_and_asks_for_nothing(tab):
    assert tab.locator("h2").all_inner_texts() == [
        "Cells", "Running cells", "Failed cells",
    ]  # fmt: skip
    assert "<b>is full</b>" in tab.locator("td").last.inner_text()
    assert "reloads every 5 seconds" in tab.inner_text("main")
    assert tab.complaints == []
    assert len(tab.requests) == 1


@pytest.mark.parametrize(
    ("scheme", "paper"), [("light", "rgb(250, 250, 248)"), ("dark", "rgb(19, 22, 27)")]
)
def test_colours_follow_the_system(tab, scheme, paper):
    tab.emulate_media(color_scheme=scheme)
    body = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(body) == paper


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_never_scrolls_sideways(tab, width):
    tab.set_viewport_size({"width": width, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
