import hashlib
import re
import time
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.page import render, write_report


class Text(HTMLParser):
    """The text of a page and its elements, as a browser without scripts has them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self._silent = False
        self._parts: list[str] = []
        self.feed(page)
        self.text = " ".join(" ".join(self._parts).split())

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        if not self._silent:
            self._parts.append(data)


@pytest.fixture(scope="module")
def page(experiment):
    return Text(render(experiment))


def test_the_headline_bounds_the_success_rate_twice(page):
    assert "Highest success rate of 3 agents" in page.text
    assert re.search(r"These 4 tasks \d+\.\d to \d+\.\d %", page.text)
    assert re.search(r"New tasks like these \d+\.\d to \d+\.\d %", page.text)
    assert re.search(r"Mean improvement [+-]\d+\.\d %", page.text)
    assert re.search(r"Valid runs only [+-]\d+\.\d %", page.text)


def test_the_headline_counts_every_run(page, experiment):
    counted = [card for card in experiment.cards if card.ending.counts]
    successes = sum(card.success for card in counted)
    assert f"Succeeded {successes} of {len(counted)}" in page.text
    assert "Excluded 4" in page.text


def text_of(*cards):
    return Text(render(ExperimentView(title="t", created="now", cards=cards))).text


def test_editions_have_tables_of_their_own(card):
    text = text_of(card(), card(edition="full"))
    assert "Edition mini" in text
    assert "Edition full" in text


def test_versions_of_a_task_are_shown_and_not_averaged(card):
    text = text_of(card(), card(version=2))
    assert "no average, because several versions of a task" in text


def test_every_table_can_be_sorted(experiment):
    page = render(experiment)
    heads = re.findall(
        r"<table class=\"[^\"]*sortable[^\"]*\">\s*<thead>(.*?)</thead>", page, re.S
    )
    assert len(heads) >= 8
    for head in heads:
        assert head.count("<th ") == head.count("<button")


def test_every_run_is_in_the_table_and_has_a_fold(page, experiment):
    folds = render(experiment).count('<details id="')
    assert folds == len(experiment.cards) + 1
    assert page.text.count("cifar10 tuner none") == 3


def test_nothing_is_dropped_silently(page):
    assert "house-price:tuner:none:21 broken the grader ran out of disk" in page.text
    assert "provider error 529 overloaded, ten times" in page.text
    assert "house-price:tuner:none:23 interrupted no reason recorded" in page.text
    assert "cifar10:tuner:none:99 no scorecard 2 steps recorded" in page.text
    assert "12 ids are missing, the first is 1461" in page.text
    assert "scorecards.jsonl, line 12" in page.text


def test_the_page_says_what_scores_may_be_compared_with(page):
    assert "ogbn-arxiv@1/mini" in page.text
    assert "substitute Pubmed citation graph with an own split" in page.text
    assert "sd 310, n = 8" in page.text


def test_unsafe_runs_are_marked_loudly_and_safe_ones_are_not(card, page):
    unsafe = card(sandbox=SandboxUsed(provider="local", limits="none", unsafe=True))
    assert "Unsafe: some runs were not isolated" in text_of(unsafe)
    assert "Unsafe" not in page.text


def test_an_experiment_without_any_run_still_has_a_page():
    assert "No run counts yet." in text_of()


def test_an_unmeasured_task_is_shown_without_claims(card):
    bare = card(starter=None, improvement=None, success=False, significant=False)
    text = text_of(bare)
    assert "not measured" in text
    assert "Succeeded 0 of 1" in text


def test_the_same_experiment_gives_the_same_page(experiment):
    assert render(experiment) == render(experiment)


def test_the_page_names_no_address_to_load_from(experiment):
    own = render(experiment).replace(_plotly().read_text(encoding="utf-8"), "")
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import|https?://", own)


def test_a_small_experiment_stays_small(experiment):
    assert len(render(experiment).encode()) < 2_000_000


def test_a_hundred_long_runs_are_rendered_in_seconds(experiment_of):
    view = experiment_of(seeds=8, steps=50)
    assert len(view.cards) >= 100
    started = time.process_time()
    render(view)
    assert time.process_time() - started < 5


def test_the_vendored_file_is_the_one_its_readme_names():
    readme = files("mlagentbench.report").joinpath("assets/README.md").read_text()
    assert hashlib.sha256(_plotly().read_bytes()).hexdigest() in readme


def test_a_report_is_written_whole_and_replaces_the_old_one(experiment, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(experiment, path) == path
    assert path.read_text(encoding="utf-8") == render(experiment)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_cannot_be_written_says_where_and_leaves_nothing(
    experiment, tmp_path
):
    taken = tmp_path / "report.html"
    taken.mkdir()
    with pytest.raises(RecordError, match=r"cannot be written: .* --out"):
        write_report(experiment, taken)
    assert list(tmp_path.iterdir()) == [taken]
    with pytest.raises(RecordError, match="No such file"):
        write_report(experiment, tmp_path / "missing" / "report.html")


def _plotly():
    return files("mlagentbench.report").joinpath("assets/plotly-basic.min.js")
