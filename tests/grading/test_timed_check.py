"""The checks of `mlab check` on a task whose score is a time."""

import shutil

import pytest

from mlagentbench.core.progress import NullObserver
from mlagentbench.run.measure import PipelineBench
from mlagentbench.tasks.check.checks import (
    grading_repeats_to_the_byte,
    ignorance_is_no_better_than_the_starter,
    labels_do_not_leak,
    malformed_answers_are_refused,
    perfect_answers_are_perfect,
)
from mlagentbench.tasks.check.evidence import Subject
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task


@pytest.fixture
def examine(cache, tmp_path):
    def subject(folder):
        task = load_task(folder)
        return Subject(
            task=task,
            prepared=prepare_task(task, cache),
            bench=PipelineBench(cache, NullObserver()),
            scratch=tmp_path / "scratch",
        )

    return subject


@pytest.mark.slow
def test_every_malformed_layer_is_refused(examine, quick_folder, tmp_path):
    folder = tmp_path / "fewer"
    shutil.copytree(quick_folder, folder)
    probes = (folder / "probes.py").read_text().splitlines(keepends=True)
    # The outputs of these are refused in test_submission.
    left_out = ("wrong type", "NaN", "objects", "no array")
    kept = [line for line in probes if not line.strip(' "').startswith(left_out)]
    assert len(kept) == len(probes) - 4
    (folder / "probes.py").write_text("".join(kept))
    verdict = malformed_answers_are_refused(examine(folder))
    assert verdict.ok, verdict.detail
    assert "endless sleep" in verdict.detail


@pytest.mark.slow
def test_constant_and_random_outputs_are_refused_as_wrong(examine, quick_folder):
    verdict = ignorance_is_no_better_than_the_starter(examine(quick_folder))
    assert verdict.ok, verdict.detail
    assert "refused as wrong: constant, random" in verdict.detail


@pytest.mark.slow
def test_a_grader_that_checks_no_output_fails_the_check(
    examine, quick_folder, tmp_path
):
    careless = tmp_path / "careless"
    shutil.copytree(quick_folder, careless)
    grade = careless / "grade.py"
    grade.write_text(grade.read_text().replace("if not is_right(", "if False and ("))
    verdict = ignorance_is_no_better_than_the_starter(examine(careless))
    assert "constant outputs are accepted and score" in verdict.detail


def test_checks_that_do_not_apply_to_a_time_pass_with_a_note(examine, quick_folder):
    subject = examine(quick_folder)
    for check in (perfect_answers_are_perfect, grading_repeats_to_the_byte):
        verdict = check(subject)
        assert verdict.ok
        assert verdict.detail.startswith("does not apply")


def test_expected_outputs_do_not_show_in_public(examine, quick_folder):
    verdict = labels_do_not_leak(examine(quick_folder))
    assert verdict.ok, verdict.detail
