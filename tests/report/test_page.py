import hashlib
import re
import time
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from tests.support.records import end

from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import BudgetPoint, RunId, SandboxUsed, Starter
from mlagentbench.core.trace import Ending, Trace
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


@pytest.fixture(scope="module")
def scored_page(scored):
    return Text(render(scored)).text


def test_the_normalised_score_leads_with_both_intervals(scored_page):
    assert "Highest normalised score of 3 agents 0." in scored_page
    score = r"\d\.\d\d to \d\.\d\d"
    assert re.search(f"These 4 tasks {score} New tasks like these {score}", scored_page)
    assert re.search(r"Levels of its runs \d+ gold, \d+ silver", scored_page)
    assert re.search(r"Success rate \d+\.\d % .* Mean improvement \+", scored_page)


def test_the_page_shows_what_an_untouched_starter_gets(scored_page):
    assert re.search(r"An untouched starter gets 0\.0[1-9] ", scored_page)
    assert "computed from the standard deviation of its measured scores" in scored_page


def test_validation_queries_and_their_inflation_are_shown(scored_page):
    assert "The best of 7 measured validation scores (the median" in scored_page
    assert re.search(r"Success, % Improvement Queries Tasks", scored_page)
    assert "Validation queries 7" in scored_page


def test_provider_errors_are_shown_beside_success_rates(scored_page):
    assert "Excluded 4 1 by provider errors" in scored_page
    assert re.search(r"\d+ of \d+ 3 excluded 1 provider error", scored_page)


def test_the_cost_of_several_runs_is_in_a_table(scored_page):
    assert "Best of 1 Best of 2 Best of 3 Best of 4 Steps a run Time" in scored_page
    scores = r"(\d\.\d\d ){4}"
    assert re.search(rf"{scores}14\.0 4 min 40 s 98\.0 k \$\d", scored_page)


def test_cpu_time_is_shown_and_calibration_if_machines_differ(scored_page, card):
    assert "CPU time in the sandbox 3 min 30 s" in scored_page
    assert "different speed" not in scored_page
    text = text_of(card(calibration_seconds=2.0), card(seed=1, calibration_seconds=3.0))
    assert "1 min 15 s calibration 2.00 s" in text
    assert "A fixed computation took 2.00 to 3.00 CPU s" in text


def test_a_run_without_a_normalised_score_is_marked(card):
    text = text_of(card(normalised=0.5), card(seed=1))
    assert "1 run without a normalised score is in no mean of it." in text
    assert "1 of 2 runs without a normalised score" in text
    assert "Runs without a normalised score house-price:tuner:none:1: graded" in text


def test_a_task_in_two_versions_is_named_in_full_in_the_table_of_runs(card):
    text = text_of(card(), card(version=2, normalised=0.5, seed=1))
    assert "house-price @1/mini tuner" in text
    assert "house-price @2/mini tuner" in text
    assert "Highest" not in text
    assert "Normalised score 0.50 tuner" in text


def test_a_stale_baseline_is_marked_in_the_table_of_runs(card):
    stale = card(baseline_error="the task folder changed", seed=1)
    assert "submitted stale 17,901" in text_of(card(normalised=0.5), stale)


def test_the_report_of_one_run_leads_with_its_normalised_score(card):
    new = card(
        normalised=0.62, level="none", reference=Starter(mean=15980.0, sd=90.0, n=8)
    )
    text = text_of(new)
    assert "Normalised score 0.62 0 is the starter, 1 the reference" in text
    assert "Test score 17,901: MAE on held-out data" in text
    assert "an unchanged starter gets 0.03 on average" in text
    assert "Level none" in text


def test_editions_have_tables_of_their_own(card):
    text = text_of(card(), card(edition="full"))
    assert "Edition mini" in text
    assert "Edition full" in text


def test_versions_of_a_task_are_shown_and_not_averaged(card):
    text = text_of(card(), card(version=2))
    assert "No average over these runs" in text
    assert "no average, because its runs are on several versions" in text


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
    assert "Unsafe: this run was not isolated" in text_of(unsafe)
    assert "Unsafe: some runs were not isolated" in text_of(unsafe, card(seed=1))
    assert "Unsafe" not in page.text


def test_an_experiment_without_any_run_still_has_a_page():
    assert "No run counts yet." in text_of()


STORY = ("plan", "experiments", "code", "answer")
AVERAGES = ("agents", "success", "improvement-by-task", "categories", "spending")


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="([^"]+)"', page)


def test_the_report_of_one_run_is_about_that_run(one_run):
    page = render(one_run)
    found = Text(page)
    assert "<h1>house-price: research with example/large-model-1</h1>" in page
    assert "<title>house-price: research with example/large-model-1 - " in page
    assert "Test score 17,901 USD MAE on held-out data, lower is better" in found.text
    assert "Starter 21,043 USD Success threshold 18,939 USD" in found.text
    assert "Reference 15,980 USD This run 17,901 USD" in found.text
    assert "Improvement +14.9 % over the starter" in found.text
    assert "Best validation score 18,200 USD at step 4" in found.text
    assert "Plan Written at step 1, never changed. Deeper trees." in found.text
    assert "Final answer Deeper trees help." in found.text
    assert "<ins>+depth = 6" in page
    assert sections(page) == ["curves", *STORY, "checks", "compare", "steps"]


def test_one_run_has_no_rate_no_average_and_no_empty_section(one_run, card):
    for view in (one_run, ExperimentView(title="t", created="now", cards=(card(),))):
        page = render(view)
        assert not {*AVERAGES, "runs", "endings"} & set(sections(page))
        text = Text(page).text
        for word in ("Success rate", "verage", "Mean", "mean run", "interval unknown"):
            assert word not in text
        for part in re.findall(r"<section id=.*?</section>", page, re.S):
            assert len(Text(part).text.split()) > 3


def test_runs_of_one_name_are_several_and_attempts_are_one(card):
    assert "Runs that count 2" in text_of(card(), card())
    text = text_of(card(ending=Ending.BROKEN, reason="disk full"), card(attempt=2))
    assert "Test score 17,901" in text
    assert "Excluded house-price:tuner:none:0 broken disk full" in text


def test_the_traceback_of_one_run_is_a_section(card, step):
    crashed = card(ending=Ending.CRASHED, reason="ValueError: my bug")
    ended = end(crashed.run, Ending.CRASHED, traceback='File "agent.py", line 3')
    trace = Trace(run=crashed.run, steps=(step(crashed.run),), end=ended)
    view = ExperimentView(title="t", created="", cards=(crashed,), traces=(trace,))
    page = render(view)
    assert "traceback" in sections(page)
    assert 'Traceback File "agent.py", line 3' in Text(page).text


def test_one_run_without_a_score_gives_the_reason(card):
    failed = card(
        score=None, improvement=None, success=False, significant=False,
        submission_error="submission.csv: 12 ids are missing",
    )  # fmt: skip
    text = text_of(failed)
    assert "Test score No score" in text
    assert "submission.csv: 12 ids are missing" in text


def test_an_interrupted_only_run_has_a_page_without_a_score(step):
    asked = RunId(task="house-price", agent="tuner", model="none", seed=0)
    trace = Trace(run=str(asked), steps=(step(str(asked)),))
    view = ExperimentView(
        title="t", created="", cards=(), traces=(trace,), asked={str(asked): asked}
    )
    page = render(view)
    assert "<h1>house-price: tuner</h1>" in page
    assert "Not graded 1 step was recorded." in Text(page).text


def test_smaller_budgets_of_one_run_are_shown_if_they_are_known(card):
    end = BudgetPoint(steps=20, score=17900.0, success=True)
    known = card(steps=20, by_budget=(BudgetPoint(steps=10, score=20100.0), end))
    assert "Steps Test score Success 10 20,100 no 20 17,900 yes" in text_of(known)
    unknown = card(steps=20, by_budget=(end,))
    assert "smaller budgets" not in text_of(unknown)


def test_several_runs_have_only_sections_with_content(card):
    broken = {"ending": Ending.BROKEN, "score": None, "improvement": None}
    excluded = [card(seed=seed, **broken) for seed in (0, 1)]
    view = ExperimentView(title="t", created="now", cards=tuple(excluded))
    assert sections(render(view)) == ["runs", "endings", "compare", "steps"]
    free = view.model_copy(update={"cards": (card(), card(seed=1))})
    found = sections(render(free))
    assert {"agents", "success", "improvement-by-task", "time"} <= set(found)
    assert not {"categories", "spending", "curves", "budgets", "checks"} & set(found)


LABELS = ("Comparability", "Success vs. cost", "Process checks", "Excluded")
PRIVATE = r"\b(gains?|folds?|apart|worked|tells?|opinion|whom|nobody|held by)\b"


def test_labels_are_those_of_the_field(page):
    for label in LABELS:
        assert label in page.text
    assert re.findall(PRIVATE, page.text, re.I) == []


def test_an_unmeasured_task_is_shown_without_claims(card):
    bare = card(starter=None, improvement=None, success=False, significant=False)
    text = text_of(bare, bare.model_copy(update={"run": "x", "seed": 1}))
    assert "not measured" in text
    assert "Succeeded 0 of 2" in text


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
