"""Cells as Slurm jobs, with stand-ins for the commands of Slurm.

A real Slurm runs in `make cluster`.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import submitit
from tests.support.studies import (
    new_store,
    quick_cell,
    scorecards,
    wait_for_copied_steps,
)

from mlagentbench.core.errors import MachineError, UsageError
from mlagentbench.experiment.plan import BudgetOverride
from mlagentbench.study import slurm_executor
from mlagentbench.study.cell import Resources
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome
from mlagentbench.study.slurm_cluster import SlurmOptions
from mlagentbench.study.slurm_executor import SlurmExecutor
from mlagentbench.study.slurm_job import LeaseLimiter, SlurmCell, read_env_file

PROJECT = Path(__file__).parents[2]
COMMANDS = {
    "sbatch": 'cp "$1" script-$$; echo Submitted batch job 7',
    "squeue": "cat queue",
    "scancel": 'echo "$@" >> cancelled; : > queue',
    "scontrol": "echo MaxArraySize = 3",
    "srun": "",
}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A folder with commands of Slurm; the file `queue` is the output of squeue."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, script in COMMANDS.items():
        (folder / name).write_text(f"#!/bin/sh\ncd {folder}\n{script}\n")
        (folder / name).chmod(0o755)
    (folder / "queue").touch()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm_executor, "_GONE_SECONDS", 0)
    return folder


@pytest.fixture
def store(tmp_path):
    return new_store(tmp_path / "study")


def study_id(store):
    return json.loads(store.read("study.json"))["id"]


def executor(store, **options):
    return SlurmExecutor(
        store, study_id(store), SlurmOptions(poll_seconds=0, **options)
    )


def request(store, cell, **fields):
    return CellRequest(cell=cell, store=store.address, study=study_id(store), **fields)


def submit(on, store, *cells):
    on.submit([request(store, cell) for cell in cells])


def scripts(slurm):
    files = sorted(slurm.glob("script-*"), key=lambda path: path.stat().st_mtime_ns)
    return [path.read_text() for path in files]


def name_in(script):
    return re.search("--job-name=(.*)", script)[1]


def set_queue(slurm, *rows):
    (slurm / "queue").write_text("".join(f"{row}\n" for row in rows))


def write_event(store, index=0, **fields):
    """Write an event as the job of the only array does."""
    (events,) = store.folder.glob("slurm-jobs/*")
    event = CellEvent(cell=fields.pop("cell", quick_cell().id), **fields)
    with (events / f"events-{index}.jsonl").open("a") as file:
        file.write(f"{event.model_dump_json()}\n")


def test_a_job_asks_for_what_its_cell_needs(slurm, store, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-slurm")
    monkeypatch.setenv("MLAB_CACHE", "/a cache")
    monkeypatch.setenv("SBATCH_QOS", "of-the-driver")
    cell = quick_cell(
        budget=BudgetOverride(wall_minutes=90),
        resources=Resources(cpus=1.5, memory_gb=6, gpus=1),
    )
    options = {"account": "me", "mail_type": "END", "time": "2-0"}
    submit(executor(store, partition="long"), store, cell)
    submit(executor(store, sbatch=options), store, cell)
    first, second = scripts(slurm)
    for line in (
        *("--export=NONE", "--requeue", "--partition=long", "--time=120"),
        *("--mem=7168MB", "--cpus-per-task=2", "--gpus-per-node=1"),
    ):
        assert f"#SBATCH {line}\n" in first
    assert "export MLAB_CACHE='/a cache'\n" in first
    for line in ("--account=me", "--mail-type=END", "--time=2-0"):
        assert f"#SBATCH {line}\n" in second
    assert "--time=120" not in second
    written = [path.read_bytes() for path in store.folder.glob("slurm*/**/*.*")]
    assert not any(b"sk-not-for-slurm" in data for data in written)
    assert os.environ["SBATCH_QOS"] == "of-the-driver"


def test_cells_that_need_the_same_are_one_array(slurm, store):
    cells = [quick_cell(seed) for seed in range(4)]
    cells.append(quick_cell(resources=Resources(gpus=1)))
    submit(executor(store), store, *cells)
    arrays = [re.findall("--array=(.*)", script) for script in scripts(slurm)]
    # The largest array has 3 tasks. A single cell is an ordinary job.
    assert arrays == [["0-2%3"], [], []]


def test_parallel_arrays_wait_for_each_other(slurm, store):
    on = executor(store, parallel=2)
    submit(on, store, *(quick_cell(seed) for seed in range(3)))
    (first,) = scripts(slurm)
    assert "--array=0-2%2" in first
    assert "--dependency" not in first
    set_queue(slurm, *(f"{name_in(first)}|{task}|7|PD" for task in range(3)))
    submit(on, store, quick_cell(3))
    assert "--dependency=afterany:7\n" in scripts(slurm)[1]


def test_a_driver_finds_the_jobs_of_another_one(slurm, store):
    cells = [quick_cell(seed) for seed in range(3)]
    submit(executor(store), store, *cells)
    name = name_in(scripts(slurm)[0])
    set_queue(slurm, f"{name}|1|7|R", f"{name}|2|7|PD")
    second = executor(store)
    assert second.queued() == {cells[1].id, cells[2].id}
    ended = {"kind": "ended", "outcome": Outcome.PUBLISHED}
    write_event(store, index=1, cell=cells[1].id, **ended)
    (event,) = second.watch(0)
    assert (event.cell, event.outcome) == (cells[1].id, Outcome.PUBLISHED)
    # A study with another id has no jobs.
    other = SlurmExecutor(store, "another", SlurmOptions())
    set_queue(slurm)
    assert other.queued() == set()


def test_a_requeued_cell_has_not_ended(slurm, store):
    on = executor(store)
    submit(on, store, quick_cell())
    name = name_in(scripts(slurm)[0])
    set_queue(slurm, f"{name}|N/A|7|R")
    write_event(store, kind="started", place="node n1")
    write_event(store, kind="ended", outcome=Outcome.INTERRUPTED)
    assert [event.kind for event in on.watch(0)] == ["started"]
    set_queue(slurm, f"{name}|N/A|7|PD")
    assert on.watch(0) == []
    set_queue(slurm, f"{name}|N/A|7|R")
    write_event(store, kind="started", place="node n2")
    write_event(store, kind="ended", outcome=Outcome.PUBLISHED)
    started, ended = on.watch(0)
    assert (started.place, ended.outcome) == ("node n2", Outcome.PUBLISHED)
    set_queue(slurm)
    assert on.watch(0) == []


def test_a_job_that_vanishes_loses_its_cell(slurm, store):
    on = executor(store)
    submit(on, store, quick_cell())
    (slurm / "squeue").write_text("#!/bin/sh\nexit 1\n")
    assert on.watch(0) == []  # Slurm does not answer.
    with pytest.raises(MachineError, match="Slurm does not answer"):
        executor(store).queued()
    (slurm / "squeue").write_text("#!/bin/sh\n")
    (folder,) = store.folder.glob("slurm-jobs/*")
    (folder / "7_0_log.err").write_text("...\nNo module named 'mlagentbench'\n\n")
    (event,) = on.watch(0)
    assert event.outcome is Outcome.LOST
    expected = "its Slurm job ended early: No module named 'mlagentbench'"
    assert event.reason == expected
    on.close()
    assert store.names("slurm") == []


def test_cancelled_cells_are_interrupted(slurm, store):
    on = executor(store)
    submit(on, store, quick_cell())
    name = name_in(scripts(slurm)[0])
    set_queue(slurm, f"{name}|N/A|7|PD")
    on.cancel(running=False)
    (event,) = on.watch(0)
    assert event.outcome is Outcome.INTERRUPTED
    on.cancel(running=True)
    cancelled = (slurm / "cancelled").read_text().splitlines()
    assert cancelled == [f"--state=PENDING --name={name}", f"--name={name}"]


def test_refused_jobs_leave_nothing_behind(slurm, store):
    reason = "sbatch: error: invalid partition specified: nope"
    (slurm / "sbatch").write_text(f"#!/bin/sh\necho '{reason}' >&2\nexit 1\n")
    with pytest.raises(MachineError, match=r"refused the jobs: sbatch: .*: nope$"):
        submit(executor(store), store, quick_cell())
    assert store.names("slurm") == []


SBATCH_WITH_LIMIT = """#!/bin/sh
cd {folder}
tasks=$(sed -n 's/.*--array=0-\\([0-9]*\\)%.*/\\1/p' "$1")
if [ $(( ${{tasks:-0}} + 1 + $(wc -l < queue) )) -gt 3 ]; then
    echo "Job violates accounting/QOS policy (job submit limit, user's limits)" >&2
    exit 1
fi
name=$(sed -n 's/.*--job-name=//p' "$1")
for task in $(seq 0 ${{tasks:-0}}); do echo "$name|$task|7|PD" >> queue; done
echo Submitted batch job 7
"""


def test_cells_beyond_the_submit_limit_wait(slurm, store):
    (slurm / "sbatch").write_text(SBATCH_WITH_LIMIT.format(folder=slurm))
    (slurm / "scontrol").write_text("#!/bin/sh\n")
    on = executor(store)
    cells = [quick_cell(seed) for seed in range(6)]
    submit(on, store, *cells)
    assert len(on.queued()) == 3
    assert on.watch(0) == []
    # Two jobs end, and two more are submitted.
    rows = (slurm / "queue").read_text().splitlines()
    set_queue(slurm, *rows[2:])
    ends = on.watch(0)
    assert {event.outcome for event in ends} == {Outcome.LOST}
    assert on.queued() == {cell.id for cell in cells[2:5]}
    on.cancel(running=True)
    assert {event.cell for event in on.watch(0)} == {cell.id for cell in cells[2:]}


def test_options_that_cannot_work_are_refused(slurm, store, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="--slurm export is not possible"):
        executor(store, sbatch={"export": "ALL"})
    keys = tmp_path / "keys.env"
    keys.write_text("OPENAI_API_KEY=sk-1 # mine\nexport OTHER='$HOME'\n")
    keys.chmod(0o644)
    with pytest.raises(UsageError, match="run `chmod 600"):
        executor(store, env_file=keys)
    keys.chmod(0o600)
    assert read_env_file(keys) == {"OPENAI_API_KEY": "sk-1", "OTHER": "$HOME"}
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="on a login node"):
        executor(store)


def test_connections_are_bounded_over_all_jobs(store):
    jobs = [LeaseLimiter(store, {"openai": 2}) for _ in range(3)]
    jobs[0].acquire("openai")
    jobs[1].acquire("openai")
    assert jobs[2]._take("openai") is None
    jobs[2].acquire("anthropic")  # is not bounded
    jobs[0].release("openai")
    jobs[2].acquire("openai")
    assert jobs[0]._take("openai") is None
    for job in jobs:
        job.release("openai")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO")
def test_a_job_of_submitit_runs_its_cell(store, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    events = tmp_path / "events.jsonl"
    job = SlurmCell(request(store, quick_cell()).model_dump_json(), str(events))
    submitit.DebugExecutor(tmp_path / "jobs").submit(job).result()
    seen = [json.loads(line) for line in events.read_text().splitlines()]
    assert [seen[0]["kind"], seen[-1]["outcome"]] == ["started", "published"]
    assert "Slurm job" in seen[0]["place"]
    assert scorecards(store).keys() == {quick_cell().id}


JOB = """
import sys
from mlagentbench.study.slurm_job import SlurmCell
SlurmCell(*sys.argv[1:])()
"""


@pytest.mark.slow
def test_a_job_that_slurm_stops_is_requeued_and_resumed(
    slurm, store, cache, tmp_path, monkeypatch
):
    set_queue(slurm, "RUNNING")
    (slurm / "scontrol").write_text(f"#!/bin/sh\necho $@ > {slurm}/asked\n")
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    go, events = tmp_path / "go", tmp_path / "events.jsonl"
    cell = quick_cell(agent="tests.support.walkers:walk", settings={"go": str(go)})
    sent = request(store, cell, copy_seconds=0).model_dump_json()
    command = [sys.executable, "-c", JOB, sent, str(events)]
    job = subprocess.Popen(command, start_new_session=True)
    wait_for_copied_steps(store, cell.id, 2)
    # Slurm sends the signal of a time limit to every process of the job.
    for process in [*psutil.Process(job.pid).children(recursive=True), job]:
        os.kill(process.pid, signal.SIGUSR2)
    assert job.wait() == 0
    assert (slurm / "asked").read_text() == "requeue 7\n"
    assert json.loads(events.read_text().splitlines()[-1])["outcome"] == "interrupted"
    go.touch()
    subprocess.run(command, check=True)
    card = scorecards(store)[cell.id]
    assert (card["ending"], card["resumed"], card["steps"]) == ("submitted", 1, 5)
