"""What does the allow list of system calls cost? References with it and without it.

`system_calls.py [PAIRS [TASK ...]]`: by default 7 pairs of a reference on NumPy, one on
torch and one on tokenizers, about an hour. Only CPU seconds count.
"""

import asyncio
import statistics
import struct
import sys
import tempfile
from pathlib import Path

from mlagentbench.core.cache import default_cache
from mlagentbench.core.task import Task
from mlagentbench.environment.agent_env import ensure_task_env
from mlagentbench.environment.sandbox.sandbox import SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.run.job import visible_files
from mlagentbench.tasks import load_task, prepare_task

PAIRS = 7
TASKS = ("vectorization", "ogbn-arxiv", "BabyLM")
ALLOWED = 0.03
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)


async def main() -> int:
    """Interleave runs with the filter and with one that allows everything."""
    pairs, *tasks = [*sys.argv[1:], *([] if sys.argv[1:] else [str(PAIRS)])]
    costs = [await _measure(load_task(name), int(pairs)) for name in tasks or TASKS]
    return int(max(costs) > ALLOWED)


async def _measure(task: Task, pairs: int) -> float:
    rows = []
    for pair in range(pairs):
        # Alternate which comes first, so that a machine that warms up favours neither.
        order = (True, False) if pair % 2 else (False, True)
        seconds = {filtered: await _run(task, filtered) for filtered in order}
        rows.append((seconds[False], seconds[True]))
    open_, filtered = (statistics.median(column) for column in zip(*rows, strict=True))
    cost = statistics.median(after / before for before, after in rows) - 1
    print(
        f"{task.id}: {open_:.2f} CPU s without the list, {filtered:.2f} with it; "
        f"median ratio {cost:+.1%} in {pairs} pairs (at most {ALLOWED:.0%})",
        flush=True,
    )
    return cost


async def _run(task: Task, filtered: bool) -> float:  # noqa: FBT001
    cache = default_cache()
    spec = SandboxSpec(
        agent_env=ensure_task_env(cache, task, task.agent_env).path,
        starter=task.part("starter"),
        mounts=visible_files(task, prepare_task(task, cache)),
        environment={"MLAB_SEED": "0"},
    )
    limits = Limits(cpus=task.data.cpus, memory_mb=int(task.data.memory_gb * 1024))
    with tempfile.TemporaryDirectory() as sandboxes:
        box = open_sandbox(Path(sandboxes), spec, limits)
        try:
            for file in task.part("reference").iterdir():
                box.write(file.name, file.read_bytes())
            if not filtered:
                for program in Path(sandboxes).glob("*/seccomp.bpf"):
                    program.write_bytes(ALLOW_ALL)
            done = await box.execute(["python", task.script])
            if done.returncode != 0:
                raise RuntimeError(done.stderr.decode())
            return box.cpu_seconds()
        finally:
            box.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
