"""How long does judging a whole study take? 13 tasks, 8 runs, 4 agents, 50 steps each.

Every run hands in what one real run of the starter predicted, more or less disturbed,
with a trace as wordy as real ones. Time and memory of `mlab score` and its children are
held against limits, and a grading in a forked process against one in a fresh process.
"""

import asyncio
import csv
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mlagentbench.core.cache import default_cache
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Called, End, Ending, ModelCall, Seconds, Spent, Step
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.grading.grader import grade_answers, shared_graders
from mlagentbench.run.pipeline import run
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task

RUNS = 13 * 8 * 4
STEPS = 50
LIMIT_SECONDS = 60
LIMIT_MB = 1024
SAMPLE = 10
LIMIT_RATIO = 0.5

PLAN = "1. Look at the data. 2. Encode the columns. 3. Tune the model. " * 5
LOG = "Fold {0}: train mae {1:.1f}, validation mae {2:.1f}, {3} rows, {4:.2f} s.\n"


def main() -> int:
    """Build, judge and compare."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = build(Path(folder))
        seconds, cpu, megabytes = scored(experiment)
        fresh, shared = one_grading(experiment)
    print(
        f"mlab score, {RUNS} runs of {STEPS} steps: {seconds:.1f} s (at most"
        f" {LIMIT_SECONDS}; {cpu:.1f} s of CPU), peak {megabytes:.0f} MB"
        f" (at most {LIMIT_MB})"
    )
    print(
        f"one grading: fresh process {1000 * fresh:.0f} ms, forked"
        f" {1000 * shared:.0f} ms, ratio {shared / fresh:.2f} (median of {SAMPLE},"
        f" at most {LIMIT_RATIO:g})"
    )
    within = seconds <= LIMIT_SECONDS and megabytes <= LIMIT_MB
    return 0 if within and shared <= LIMIT_RATIO * fresh else 1


def build(folder: Path) -> Experiment:
    """Make an experiment of many runs out of one real one."""
    real = run(Plan(tasks=("house-price",), agent="starter", out=folder, name="real"))
    (source,) = real.runs()
    many = Experiment(folder / "many")
    wanted = {"agent": "research", "seeds": tuple(range(RUNS))}
    many.create(real.spec.model_copy(update=wanted))
    rows = _rows(real.submission_folder(source) / "submission.csv")
    for one in many.runs():
        rng = random.Random(one.seed)
        _submit(rows, many.submission_folder(one), rng)
        _write_trace(many.trace_path(one), one, rng)
    return many


def scored(experiment: Experiment) -> tuple[float, float, float]:
    """Run `mlab score`: its seconds, of CPU too, and the most megabytes it held."""
    mlab = Path(sys.executable).parent / "mlab"
    clock, before, most = time.perf_counter(), os.times(), 0
    with subprocess.Popen(
        [str(mlab), "score", str(experiment.folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None:
            most = max(most, _resident_pages(process.pid))
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"mlab score failed with exit code {process.returncode}")
    seconds, after = time.perf_counter() - clock, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return seconds, cpu, most * os.sysconf("SC_PAGE_SIZE") / 2**20


def one_grading(experiment: Experiment) -> tuple[float, float]:
    """Return the seconds of a grading in a fresh process and in a forked one."""
    task = load_task("house-price")
    truth = prepare_task(task, default_cache()).private / task.truth
    sample = experiment.runs()[:SAMPLE]
    answers = [experiment.submission_folder(one) / "submission.csv" for one in sample]

    async def both() -> tuple[float, float]:
        fresh = await _median(task, answers, truth)
        async with shared_graders():
            await grade_answers(task, answers[0], truth)
            return fresh, await _median(task, answers, truth)

    return asyncio.run(both())


async def _median(task: Task, answers: list[Path], truth: Path) -> float:
    taken = []
    for one in answers:
        clock = time.perf_counter()
        verdict = await grade_answers(task, one, truth)
        taken.append(time.perf_counter() - clock)
        if verdict.score is None:
            raise SystemExit(f"{one} was refused: {verdict.submission_error}")
    return statistics.median(taken)


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def _submit(rows: list[list[str]], into: Path, rng: random.Random) -> None:
    into.mkdir(parents=True)
    head, *body = rows
    spread = rng.uniform(0, 0.3)
    disturbed = [[row, float(price) * rng.gauss(1, spread)] for row, price in body]
    with (into / "submission.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *disturbed])


def _write_trace(path: Path, one: RunId, rng: random.Random) -> None:
    with TraceWriter(path) as trace:
        for number in range(1, STEPS + 1):
            trace.append(Called(run=str(one), call=_call(number)))
            trace.append(_step(one, number, rng))
        spent = Spent(steps=STEPS, seconds=40.0 * STEPS, tokens=5_000 * STEPS)
        trace.append(
            End(run=str(one), ending=Ending.SUBMITTED, spent=spent, seconds=2e3, at="")
        )


def _call(number: int) -> ModelCall:
    said = f"Reflection: step {number} went well.\nPlan: {PLAN}\nAction: Execute Script"
    choice = {"message": {"role": "assistant", "content": said * 3}}
    return ModelCall(
        role="main",
        model="provider/model",
        request_sha=f"{number:064x}",
        reply={"model": "model", "choices": [choice], "completion": said * 3},
        usage={"input": 4_200, "output": 700, "cached": 1_000},
    )


def _step(one: RunId, number: int, rng: random.Random) -> Step:
    runs = number % 2 == 0
    given = {"script_name": "train.py"}
    edit = given | {"edit_instruction": f"set the depth to {number}"}
    lines = [
        LOG.format(fold, rng.gauss(2e4, 900), rng.gauss(2.2e4, 900), 760, rng.random())
        for fold in range(30)
    ]
    return Step(
        run=str(one),
        step=number,
        agent_step=number,
        fields={"Reflection": f"Step {number} went well.", "Research Plan": PLAN},
        action="Execute Script" if runs else "Edit Script (AI)",
        input=given if runs else edit,
        observation="".join(lines),
        ok=True,
        spent=Spent(steps=number, seconds=40.0 * number, tokens=5_000 * number),
        seconds=Seconds(model=10, execute=30, harness=0.1),
        started="2026-11-16T00:00:00.000+00:00",
    )


def _resident_pages(root: int) -> int:
    """Add up the memory of a process and all below it; shared pages count again."""
    parents, pages, family = {}, {}, {root}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid], pages[pid] = int(fields[1]), int(fields[21])
    while more := {pid for pid, up in parents.items() if up in family} - family:
        family |= more
    return sum(pages.get(pid, 0) for pid in family)


if __name__ == "__main__":
    sys.exit(main())
