"""Jobs: what a plan and its tasks decide about the sandbox of a run."""

import platform
import shutil

import pytest
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.episode import job_context
from mlagentbench.run.make_jobs import Services, jobs_of, make_jobs


@pytest.fixture
def make_job(cache, tmp_path):
    """Make the job of one edition of a task."""

    def make(task, edition="mini"):
        plan = Plan(tasks=(str(task),), agent="starter", edition=edition, out=tmp_path)
        services = Services(cache, Silent(), NullObserver())
        (job,) = make_jobs(plan, Experiment(tmp_path / "exp"), services)
        return job

    return make


def test_an_edition_decides_memory_and_cores_of_the_sandbox(make_job, tmp_path):
    task = shutil.copytree(QUICK_TASK, tmp_path / "task")
    toml = task / "task.toml"
    more = "memory_gb = 3\ncpus = 2"
    toml.write_text(toml.read_text().replace("memory_gb = 1", more))
    limits = make_job(task).sandbox_config(seed=0).limits
    assert (limits.cpus, limits.memory_mb) == (2, 3072)


def test_a_resumed_experiment_keeps_the_calibration_it_started_with(cache, tmp_path):
    plan = Plan(tasks=(str(QUICK_TASK),), agent="starter", out=tmp_path)
    services = Services(cache, Silent(), NullObserver())
    experiment = Experiment(tmp_path / "exp", plan.named)
    (job,) = make_jobs(plan, experiment, services)
    assert 0 < job_context(job).calibration_seconds < 60
    assert f"Python {platform.python_version()}" in job.spec.machine
    elsewhere = {"calibration_seconds": 123.0, "machine": "64 cores"}
    experiment.create(job.spec.model_copy(update=elsewhere))
    (resumed,) = jobs_of(experiment, services)
    assert job_context(resumed).calibration_seconds == 123.0
    assert resumed.spec.machine == "64 cores"


def test_the_files_of_an_edition_are_those_of_its_sandbox(make_job, tmp_path):
    task = shutil.copytree(QUICK_TASK, tmp_path / "task")
    shutil.copytree(task / "starter", task / "full" / "starter")
    (task / "full" / "task.toml").write_text(
        "[budget]\nsteps = 7\n\n[editions.full]\n"
        'data = "generated"\nsummary = "more"\nsize_mb = 1\n'
    )
    (task / "full" / "problem.md").write_text("{steps} steps for submission.csv")
    job = make_job(task, "full")
    spec = job.sandbox_config(seed=0).spec
    assert spec.starter == task / "full" / "starter"
    assert [mount.source for mount in spec.mounts] == [
        task / "metric.py",
        job.prepared.public / "data",
    ]
    assert job.problem == "7 steps for submission.csv"
