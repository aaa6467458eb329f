"""Scores of the original's own evaluation, found again by path."""

import json
from pathlib import Path

import pytest
from tests.run.importing.builder import ANSWER, RUN_TRAIN, make_run

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.importing.importer import import_original


@pytest.fixture
def judged(tmp_path):
    """Import runs of which results are known; return card by folder, and warnings."""

    def call(
        runs: list[str], results: object
    ) -> tuple[dict[str, Scorecard], list[str]]:
        for run in runs:
            make_run(tmp_path / "logs" / run, [RUN_TRAIN, RUN_TRAIN, ANSWER])
        file = tmp_path / "results.json"
        file.write_text(json.dumps(results))
        said = import_original(tmp_path / "logs", tmp_path / "out", [file])
        cards = {
            card.run: card for card in Experiment(tmp_path / "out").scorecards()[0]
        }
        by_folder = {folder: cards[run] for run, folder in said.runs.items()}
        return by_folder, list(said.warnings)

    return call


def at(run: str) -> str:
    return f"/elsewhere/final_exp_logs/{run}/env_log/trace.json"


def test_a_score_is_held_against_the_baseline_the_original_set(judged):
    run = "gpt4/imdb/1690000000"
    cards, warnings = judged([run], {at(run): {"final_score": 0.93}})
    card = cards[run]
    assert (card.score, card.improvement) == (0.93, pytest.approx(0.86))
    assert (card.success, card.significant, card.gap_closed) == (True, False, None)
    assert (card.starter.mean, card.reason) == (0.5, None)
    assert warnings == []


def test_less_is_better_where_the_original_says_so(judged):
    run = "gpt4/vectorization/1"
    card = judged([run], {at(run): {"final_score": 3.0871}})[0][run]
    assert card.improvement == pytest.approx(0.5)


def test_a_task_without_a_set_baseline_has_a_score_and_no_improvement(judged):
    run = "gpt4/cifar10/1"
    card = judged([run], {at(run): {"final_score": 0.7}})[0][run]
    assert (card.score, card.improvement, card.success) == (0.7, None, False)


@pytest.mark.parametrize("score", [-1, 0, None, "0.9", True, float("nan"), 10**400])
def test_what_is_no_score_means_no_submission(judged, score):
    run = "gpt4/imdb/1"
    card = judged([run], {at(run): {"final_score": score}})[0][run]
    assert (card.score, card.success) == (None, False)
    assert card.submission_error == "the original's evaluation found no score"


def test_scores_of_steps_give_the_best_one(judged):
    run = "gpt4/imdb/1"
    said = {"final_score": 0.6, "score": [0.55, 0.8, 0, 0.6], "score_steps": [0, 1, 2]}
    card = judged([run], {at(run): said})[0][run]
    assert (card.best_step.step, card.best_step.score) == (2, 0.8)


def test_scores_that_cannot_be_placed_are_left_out(judged):
    run = "gpt4/imdb/1"
    said = {"final_score": 0.6, "score": [0.8, 0.6], "score_steps": [0, 1, 2]}
    card = judged([run], {at(run): said})[0][run]
    assert (card.score, card.best_step) == (0.6, None)


def test_a_run_without_a_result_stays_unjudged_beside_others(judged):
    runs = ["gpt4/imdb/1", "gpt4/imdb/2"]
    cards, _ = judged(runs, {at(runs[1]): {"final_score": 0.9}})
    assert cards[runs[0]].score is None
    assert cards[runs[0]].reason == "imported: not judged by us"
    assert cards[runs[1]].score == 0.9


def test_a_result_that_fits_several_ways_is_taken_by_nobody(judged):
    run = "gpt4/imdb/1"
    results = {at(run): {"final_score": 0.9}, f"x/{at(run)[1:]}": {"final_score": 0.1}}
    cards, warnings = judged([run], results)
    assert cards[run].score is None
    assert any("2 results fit" in said for said in warnings)


def test_results_of_another_task_are_not_taken(judged):
    run = "gpt4/imdb/1"
    cards, _ = judged([run], {at("gpt4/cifar10/1"): {"final_score": 0.9}})
    assert cards[run].score is None


@pytest.mark.parametrize("held", [[], 3, "x"])
def test_a_file_of_another_kind_is_a_warning(judged, held):
    cards, warnings = judged(["gpt4/imdb/1"], held)
    assert cards["gpt4/imdb/1"].score is None
    assert warnings == ["results.json: not read: it is no object keyed by path"]


def test_a_torn_file_of_results_is_a_warning(tmp_path: Path):
    make_run(tmp_path / "logs" / "1", [ANSWER])
    file = tmp_path / "results.json"
    file.write_text('{"a": ')
    said = import_original(tmp_path / "logs", tmp_path / "out", [file])
    assert said.warnings[0].startswith("results.json: not read: not valid JSON")
