"""Damaged experiments: what is damaged is named, and the rest is still had."""

import os
import shutil

import pytest
from tests.faults.harness import Job, finish
from tests.faults.killing import said
from tests.faults.plans import plan_for
from tests.support.outcomes import outcome_of

from mlagentbench.cli.main import main
from mlagentbench.core.trace import Ending
from mlagentbench.environment.snapshots.objects import object_path
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore


@pytest.fixture(scope="module")
def whole(place):
    """An experiment of two runs."""
    plan = plan_for("quick", place.top / "out", "whole", seeds=(0, 1), parallel=2)
    job = Job(place, plan)
    assert finish(job) == 0, said(job)
    return job


@pytest.fixture
def cut(whole, request):
    """A copy whose runs were both cut off before their last step."""
    job = Job(whole.place, whole.plan.model_copy(update={"name": request.node.name}))
    folder = job.experiment.folder
    shutil.copytree(whole.experiment.folder, folder)
    shutil.rmtree(folder / "submissions")
    (folder / "scorecards.jsonl").unlink()
    for trace in (folder / "trace").iterdir():
        lines = trace.read_bytes().splitlines(keepends=True)
        trace.write_bytes(b"".join(lines[:-2]))
    return job


def mlab_resume(job):
    os.environ["MLAB_CACHE"] = str(job.place.cache)
    named = job.plan.named.options.split()
    main(["resume", str(job.experiment.folder), *named])


def resumed(job, code):
    """Resume by command and return what was said."""
    assert finish(job, mlab_resume) == code, said(job)
    text = said(job)
    assert "Traceback" not in text
    return text


def cards_by_seed(experiment):
    return {card.seed: card for card in experiment.scorecards}


def last_snapshot(experiment, run):
    steps = experiment.trace(run).steps
    store = SnapshotStore(experiment.snapshots)
    return store.manifest(steps[-1].snapshot)


def test_a_garbled_trace_breaks_its_own_run_only(cut, whole):
    first, second = cut.experiment.runs()
    trace = cut.experiment.trace_path(second)
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(lines[0] + b"\x00garbage\n" + b"".join(lines[1:]))
    text = resumed(cut, 1)
    assert f"{trace.name}, line 2 is damaged" in text.replace("\n", "")
    cards = cards_by_seed(cut.experiment)
    assert cards[0].ending is Ending.SUBMITTED
    assert cards[1].ending is Ending.BROKEN
    assert "the 1 lines before it are complete" in cards[1].reason
    assert outcome_of(cut.experiment, first) == outcome_of(whole.experiment, first)


def test_a_corrupt_object_is_named_and_breaks_the_run_that_needs_it(cut, whole):
    first, second = cut.experiment.runs()
    entries = last_snapshot(cut.experiment, second).entries
    entry = next(entry for entry in entries if entry.path == "submission.csv")
    path = cut.experiment.snapshots / "objects" / object_path(entry.object)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    (found,) = SnapshotStore(cut.experiment.snapshots).verify()
    assert f"{path} is corrupt; it is needed by submission.csv" in found
    resumed(cut, 1)
    cards = cards_by_seed(cut.experiment)
    assert cards[1].ending is Ending.BROKEN
    assert "submission.csv" in cards[1].reason
    assert outcome_of(cut.experiment, first) == outcome_of(whole.experiment, first)
    steps = cut.experiment.trace(second).steps
    assert len(steps) == 3


def test_missing_snapshots_are_said_to_be_missing(cut):
    shutil.rmtree(cut.experiment.snapshots)
    resumed(cut, 1)
    for card in cut.experiment.scorecards:
        assert card.ending is Ending.BROKEN
        assert "no snapshot" in card.reason


def test_a_truncated_description_leaves_the_records_readable(cut):
    described = cut.experiment.folder / "experiment.json"
    described.write_bytes(described.read_bytes()[:100])
    text = resumed(cut, 1)
    assert "experiment.json is damaged" in text
    assert "2 traces" in text


def test_a_lost_trace_of_a_run_without_score_is_begun_anew(cut, whole):
    lost, _ = cut.experiment.runs()
    cut.experiment.trace_path(lost).unlink()
    resumed(cut, 0)
    for run in cut.experiment.runs():
        assert outcome_of(cut.experiment, run) == outcome_of(whole.experiment, run)
