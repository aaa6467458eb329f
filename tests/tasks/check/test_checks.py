import math
import shutil

import pytest

from mlagentbench.core.errors import MachineError
from mlagentbench.core.task import Direction
from mlagentbench.tasks.check import check_task, read_checks, write_checks
from mlagentbench.tasks.check.checks import (
    baseline_is_measured,
    baseline_is_usable,
    canary_is_present,
    data_is_as_prepared,
    declarations_are_complete,
    direction_is_right,
    grading_repeats_to_the_byte,
    ignorance_is_no_better_than_the_starter,
    labels_do_not_leak,
    malformed_answers_are_refused,
    nothing_beats_perfect,
    perfect_answers_are_perfect,
    reference_clears_the_bar,
    starter_scores_as_measured,
    units_give_the_score,
)
from mlagentbench.tasks.check.evidence import Attempt, Finding
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import (
    load_folder,
    load_task,
    read_measured,
    write_measured,
)
from mlagentbench.tasks.prepare import prepare_task


@pytest.fixture
def measured_as(folder):
    """Rewrite what was measured of the copied folder's starter."""

    def rewrite(**changes):
        known = read_measured(folder)["mini"]
        starter = known.starter.model_copy(update=changes)
        write_measured(folder, "mini", known.model_copy(update={"starter": starter}))

    return rewrite


def test_findings_are_kept_with_the_digest_of_their_folder(folder):
    findings = (Finding(check="canary", ok=True, detail="it is there"),)
    write_checks(load_folder(folder, "mini"), findings)
    checked = read_checks(folder)["mini"]
    assert (checked.digest, checked.findings) == (task_digest(folder, "mini"), findings)


def test_the_shipped_measurements_are_of_the_shipped_folder():
    task = load_task("house-price")
    assert task.measured is not None
    assert task.measured.digest == task_digest(task.folder, "mini")


def test_a_label_put_into_public_is_a_leak(edit, examine):
    edit(
        "prepare.py",
        '_write(data / "test.csv", test, facts)',
        '_write(data / "test.csv", test, columns)',
    )
    verdict = labels_do_not_leak(examine())
    assert not verdict.ok
    assert "public/data/test.csv changes when held-out labels change" in verdict.detail


def test_an_order_that_depends_on_held_out_labels_is_a_leak(edit, examine):
    edit(
        "prepare.py",
        '_write(data / "test.csv", test, facts)',
        'test.sort(key=lambda sale: sale["SalePrice"])\n'
        '    _write(data / "test.csv", test, facts)',
    )
    verdict = labels_do_not_leak(examine())
    assert not verdict.ok
    assert "public/data/test.csv changes" in verdict.detail


def test_a_statistic_of_all_labels_in_public_is_a_leak(edit, examine):
    edit(
        "prepare.py",
        "    columns = list(sales[0])\n",
        "    columns = list(sales[0])\n"
        '    (public / "mean").write_text('
        'str(sum(int(sale["SalePrice"]) for sale in test)))\n',
    )
    verdict = labels_do_not_leak(examine())
    assert verdict.detail == "public/mean changes when held-out labels change"


def test_a_prepare_that_ignores_tampering_is_found_out(edit, examine):
    edit("prepare.py", "if tamper:", "if tamper and False:")
    verdict = labels_do_not_leak(examine())
    assert "leaves 400 labels in answers.csv as they are" in verdict.detail


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("validation, facts)", "validation, columns)", "public/data/validation.csv"),
        ("validation, test = hidden[:VALIDATION]", "validation, test = sales[760:1060]",
         "prepare(tamper=True) leaves 300 labels in validation.csv as they are"),
    ],
)  # fmt: skip
def test_validation_labels_are_checked_like_test_labels(edit, examine, old, new, found):
    edit("prepare.py", old, new)
    verdict = labels_do_not_leak(examine())
    assert not verdict.ok
    assert verdict.detail.startswith(found)


def test_units_that_do_not_give_the_score_are_found_out(edit, examine):
    assert units_give_the_score(examine()).ok
    edit("grade.py", "(error,) for", "(2 * error,) for")
    verdict = units_give_the_score(examine())
    assert not verdict.ok
    assert "units of constant answers give" in verdict.detail


def test_scale_without_a_reason_is_named(edit, examine):
    edit("task.toml", 'scale = "linear"', 'scale = "log"')
    edit("task.toml", "scale_reason = ", "# ")
    detail = declarations_are_complete(examine()).detail
    assert detail == "task.toml gives no scale_reason for the scale log"


def test_data_that_comes_out_differently_each_time_is_found_out(edit, examine):
    edit("prepare.py", 'sale: sale["Id"])', "_: os.urandom(4))")
    edit("prepare.py", "import io", "import io\nimport os")
    verdict = labels_do_not_leak(examine())
    assert "comes out differently each time" in verdict.detail


def test_data_that_was_touched_is_found_out(examine, own_cache):
    subject = examine()
    prepared = prepare_task(subject.task, own_cache)
    path = prepared.public / "data" / "test.csv"
    path.unlink()
    shutil.copy(prepared.public / "data" / "train.csv", path)
    spoiled = type(subject)(subject.task, prepared, subject.bench, subject.scratch)
    verdict = data_is_as_prepared(spoiled)
    assert "public/data/test.csv has" in verdict.detail
    assert "differ in age" in verdict.detail


def test_a_reference_below_the_bar_is_named_with_what_is_needed(folder, examine):
    shutil.copy(folder / "starter" / "train.py", folder / "reference" / "train.py")
    verdict = reference_clears_the_bar(examine())
    assert not verdict.ok
    assert "15% is needed" in verdict.detail


def test_a_starter_that_does_not_run_is_named_with_its_last_words(edit, examine):
    edit("starter/train.py", "data/train.csv", "data/nowhere.csv")
    verdict = starter_scores_as_measured(examine())
    assert not verdict.ok
    assert "the starter has no score: FileNotFoundError" in verdict.detail


def test_a_starter_that_scores_otherwise_than_measured_is_named(edit, examine):
    edit("starter/train.py", "TREES = 40", "TREES = 44")
    verdict = starter_scores_as_measured(examine())
    assert not verdict.ok
    assert "the starter does not score as measured" in verdict.detail


def test_a_starter_that_takes_too_long_is_named(examine, bench, monkeypatch):
    subject = examine()
    score = subject.measured.starter.mean
    slow = Attempt(score=score, error=None, seconds=61.0)
    monkeypatch.setattr(bench, "solve", lambda *_: slow)
    verdict = starter_scores_as_measured(subject)
    assert not verdict.ok
    assert "took 61 CPU s of 60" in verdict.detail


def test_a_random_grader_is_found_out(edit, examine):
    edit("grade.py", "score=mean", "score=random.random() + mean")
    edit("grade.py", "from pathlib", "import random\nfrom pathlib")
    subject = examine()
    verdict = grading_repeats_to_the_byte(subject)
    assert not verdict.ok
    assert "permuted answers scored" in verdict.detail
    assert "instead of 0.0" in perfect_answers_are_perfect(subject).detail


@pytest.mark.slow
def test_a_flipped_direction_is_called_flipped(edit, examine):
    edit("task.toml", 'direction = "lower"', 'direction = "higher"')
    verdict = direction_is_right(examine())
    assert not verdict.ok
    assert "the reference scores" in verdict.detail
    assert "a perfect answer scores 0, worse than the starter's" in verdict.detail
    assert verdict.detail.endswith("is higher really better? It looks flipped")


@pytest.mark.slow
def test_a_score_better_than_perfect_is_found_out(edit, examine):
    edit("task.toml", "perfect = 0.0", "perfect = 20000.0")
    verdict = nothing_beats_perfect(examine())
    assert "the reference scores" in verdict.detail
    assert "better than perfect" in verdict.detail


def test_a_grader_that_rewards_ignorance_is_found_out(edit, examine):
    edit("metric.py", "abs(p - a) for p, a in", "abs(p - 150_000) for p, a in")
    verdict = ignorance_is_no_better_than_the_starter(examine())
    assert not verdict.ok
    assert "constant answers score" in verdict.detail


@pytest.mark.slow
def test_a_grader_that_accepts_or_breaks_on_malformed_answers_is_found_out(
    folder, examine
):
    (folder / "grade.py").write_text(
        "from .metric import mean_absolute_error, read_prices\n"
        "def grade(answers, truth):\n"
        "    guessed, paid = read_prices(answers), read_prices(truth)\n"
        "    rows = guessed.keys() & paid.keys()\n"
        "    return mean_absolute_error("
        "[guessed[r] for r in rows], [paid[r] for r in rows])\n"
    )
    detail = malformed_answers_are_refused(examine()).detail
    assert "missing ids is accepted and scores 0" in detail
    assert "extra ids is accepted" in detail
    assert "duplicate ids is accepted" in detail
    assert "binary junk breaks the grader (UnicodeDecodeError" in detail
    assert "no file breaks the grader (FileNotFoundError" in detail


@pytest.mark.slow
def test_malformed_answers_of_every_kind_are_refused_by_house_price(examine):
    verdict = malformed_answers_are_refused(examine())
    assert verdict.ok
    for kind in ("no file", "NaN", "infinite", "duplicate ids", "binary junk"):
        assert kind in verdict.detail


def test_a_task_with_its_own_probes_is_checked_by_them(folder, examine):
    (folder / "probes.py").write_text(
        "from mlagentbench.tasks.check.probes import Probes\n"
        "def probes(truth, folder):\n"
        "    none = folder / 'none'\n"
        "    return Probes(perfect=none, weak={}, malformed={'own': truth})\n"
    )
    subject = examine()
    assert "own is accepted" in malformed_answers_are_refused(subject).detail
    assert "perfect answers are refused" in perfect_answers_are_perfect(subject).detail


def test_a_folder_edited_after_it_was_measured_is_named(examine, folder):
    subject = examine()
    assert baseline_is_measured(subject).ok
    (folder / "README.md").write_text("edited")
    assert "run mlab measure house-price" in baseline_is_measured(subject).detail


def test_too_few_measured_runs_are_named(examine, measured_as):
    measured_as(n=3)
    detail = baseline_is_measured(examine()).detail
    assert detail == "the starter was measured 3 times, 8 are needed"


@pytest.mark.slow
def test_a_task_that_was_never_measured_is_told_to_be(
    folder, cache, archives, bench, tmp_path
):
    (folder / "measured.json").unlink()
    for solution in ("starter", "reference"):
        (folder / solution / "train.py").write_text("raise SystemExit('not now')")
    task = load_task(folder)
    found = check_task(
        task, prepare_task(task, cache), bench, scratch=tmp_path / "scratch"
    )
    by_name = {finding.check: finding for finding in found}
    assert "run `mlab measure" in by_name["baseline is measured"].detail
    assert not by_name["baseline is usable"].ok
    assert by_name["perfect answers are perfect"].ok


@pytest.mark.parametrize(
    ("direction", "mean", "reason"),
    [
        (Direction.LOWER, 0.0, "mean is zero"),
        (Direction.LOWER, -3.0, "below zero"),
        (Direction.HIGHER, 1000.0, "under 10% of the reference's"),
    ],
)
def test_a_baseline_without_sense_is_refused(
    examine, edit, measured_as, direction, mean, reason
):
    edit("task.toml", 'direction = "lower"', f'direction = "{direction}"')
    measured_as(mean=mean, scores=())
    verdict = baseline_is_usable(examine())
    assert not verdict.ok
    assert reason in verdict.detail


def test_a_starter_that_succeeds_by_noise_is_found_out(examine, measured_as):
    measured_as(mean=26500.0, scores=(20000.0, *[26500.0] * 7))
    detail = baseline_is_usable(examine()).detail
    assert "1 of 8 unmodified starters succeed by noise alone" in detail


def test_what_is_not_declared_is_named(edit, examine, folder):
    edit("problem.md", "submission.csv", "file.csv")
    (folder / "reference" / "train.py").rename(folder / "reference" / "other.py")
    detail = declarations_are_complete(examine()).detail
    assert "problem.md does not name submission.csv" in detail
    assert "reference/ has no train.py" in detail


def test_a_budget_left_to_chance_is_named(edit, examine):
    edit("task.toml", "[budget]\nsteps = 50\nminutes = 60\n", "")
    edit("task.toml", "execution_minutes = 10\nsubmission_mb = 200\n", "")
    assert "does not declare budget" in declarations_are_complete(examine()).detail


def test_a_folder_without_the_canary_is_named(edit, examine):
    edit("README.md", "mlagentbench canary", "canary")
    detail = canary_is_present(examine()).detail
    assert detail.startswith("README.md must hold the line: mlagentbench canary")


@pytest.mark.slow
def test_a_machine_that_cannot_is_no_finding_about_the_task(
    examine, bench, monkeypatch, tmp_path
):
    def cannot(*_):
        raise MachineError("no sandbox")

    monkeypatch.setattr(bench, "solve", cannot)
    subject = examine()
    with pytest.raises(MachineError):
        check_task(subject.task, subject.prepared, bench, scratch=tmp_path / "other")


def test_the_starter_is_weaker_than_tuning_can_make_it(edit, examine):
    edit("starter/train.py", "TREES = 40", "TREES = 160")
    subject = examine()
    assert subject.improvement(subject.starter.score) > 0.2
    assert math.isfinite(subject.starter.score)
