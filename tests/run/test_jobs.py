"""Jobs: what a plan and its tasks decide about the sandbox of a run."""

import shutil

from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.make_jobs import Services, make_jobs


def test_an_edition_decides_memory_and_cores_of_the_sandbox(cache, tmp_path):
    task = shutil.copytree(QUICK_TASK, tmp_path / "task")
    toml = task / "task.toml"
    more = "memory_gb = 3\ncpus = 2"
    toml.write_text(toml.read_text().replace("memory_gb = 1", more))
    plan = Plan(tasks=(str(task),), agent="starter", out=tmp_path)
    services = Services(cache, Silent(), NullObserver())
    (job,) = make_jobs(plan, Experiment(tmp_path / "exp"), services)
    limits = job.sandbox_config(seed=0).limits
    assert (limits.cpus, limits.memory_mb) == (2, 3072)
