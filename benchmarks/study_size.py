"""How long do commands take on a study with 2,000 finished cells?

One cell is really run, and its bundle is copied under other seeds. Every command is a
process of its own, and its best of three times counts. Exits 1 where one is over its
limit.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CELLS = 2_000
TRIES = 3
DRIVER_MEGABYTES = 500
TASK, TRIALS = "house-price", 3
MLAB = Path(sys.executable).with_name("mlab")
FILE = """\
name = "size"
[[cells]]
tasks = ["{task}"]
agents = [{{ name = "tuner", settings = {{ trials = {trials} }} }}]
seeds = {seeds}
"""


def main() -> int:
    """Make the study, call each command, and print the times."""
    with tempfile.TemporaryDirectory(prefix="mlab-study-size-") as scratch:
        file, study = Path(scratch, "size.toml"), Path(scratch, "size")
        make_study(file, study)
        table, tex = Path(scratch, "runs.csv"), Path(scratch, "table.tex")
        commands: dict[str, tuple[float, list[object]]] = {
            "status": (2.0, ["status", study]),
            "nothing to do": (5.0, ["study", file, "--out", study, "--yes"]),
            "report": (30.0, ["report", study, "--csv", table, "--latex", tex]),
        }
        kept = [measure(name, *limited) for name, limited in commands.items()]
    return 0 if all(kept) else 1


def make_study(file: Path, study: Path) -> None:
    """Run one cell, plan all of them, and copy its bundle under the other seeds."""
    from mlagentbench.study import load_study, open_study

    write_file(file, seeds=1)
    subprocess.run([MLAB, "study", file, "--out", study, "--yes"], check=True)
    (source,) = (study / "cells").iterdir()
    text = write_file(file, seeds=CELLS)
    cells = load_study(file).cells
    open_study(study).add_plan("size", text, cells)
    for cell in cells[1:]:
        copy_bundle(source, study / "cells" / cell.id, cell.seed)


def write_file(file: Path, seeds: int) -> str:
    text = FILE.format(task=TASK, trials=TRIALS, seeds=seeds)
    file.write_text(text)
    return text


def copy_bundle(source: Path, target: Path, seed: int) -> None:
    """Copy the bundle of a run as that of the same run with another seed.

    Files that name no run are shared by hard links.
    """
    spec = json.loads((source / "experiment.json").read_text())
    (card,) = map(json.loads, (source / "scorecards.jsonl").read_text().splitlines())
    old, new = card["run"], f"{card['run'].rpartition(':')[0]}:{seed}"
    shutil.copytree(source, target, copy_function=os.link)
    spec["seeds"], card["run"], card["seed"] = [seed], new, seed
    replace(target / "experiment.json", json.dumps(spec))
    replace(target / "scorecards.jsonl", json.dumps(card) + "\n")
    for path in [*target.glob("trace/*.jsonl"), *target.glob("submissions/*")]:
        renamed = path.rename(path.with_name(path.name.replace(old, new)))
        if renamed.is_file():
            replace(renamed, renamed.read_text().replace(old, new))
    about = target / "cell.json"
    if about.exists():
        document = json.loads(about.read_text())
        document["cell"]["seed"] = seed
        replace(about, json.dumps(document))


def replace(path: Path, text: str) -> None:
    """Write a file that shares its old content with another one."""
    path.unlink()
    path.write_text(text)


def measure(name: str, limit: float, words: list[object]) -> bool:
    """Call a command some times; return whether it is within its limits."""
    called = [call([str(MLAB), *map(str, words)]) for _ in range(TRIES)]
    seconds, cpu = (min(column) for column in list(zip(*called, strict=True))[:2])
    megabytes = max(megabytes for _, _, megabytes in called)
    kept = seconds <= limit
    memory = f"{megabytes:.0f} MB of memory"
    if name == "nothing to do":
        kept = kept and megabytes <= DRIVER_MEGABYTES
        memory += f" (at most {DRIVER_MEGABYTES})"
    print(
        f"{'ok' if kept else 'NO'} {name} of {CELLS:,} finished cells: "
        f"{seconds:.2f} s (at most {limit:g}), {cpu:.2f} s of CPU, {memory}",
        flush=True,
    )
    return kept


def call(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds, those of CPU, and its memory in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
