"""Studies on real Ray and Slurm clusters on this machine: `make cluster`.

    python tools/cluster.py [PART ...]

Each part is a process of its own. The result is written to docs/cluster-record.md with
the date. Exits 1 if a part fails or does not end in time.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "cluster-record.md"
MAX_MINUTES = 45
_TESTS = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
_CLUSTER = "tests/study/cluster"
PARTS = {
    "Slurm: 24 cells, shell killed": (*_TESTS, f"{_CLUSTER}/test_slurm_study.py"),
    "Slurm: time limit, preemption, keys": (*_TESTS, f"{_CLUSTER}/test_slurm.py"),
    "Commands of docs/cluster.md": (*_TESTS, f"{_CLUSTER}/test_page.py"),
    "Driver killed 20 times": (*_TESTS, f"{_CLUSTER}/test_killed_drivers.py"),
    "2,000 finished cells": ("benchmarks/study_size.py",),
    "Ray: lost node, one cell": ("benchmarks/study_ray.py", "lost", "cell"),
    # Three pairs, the default of the benchmark, take longer than all other parts.
    "Ray: 2 nodes against 1": ("benchmarks/study_ray.py", "speed", "--pairs", "1"),
}
"""Arguments of Python, by name."""


class Result(NamedTuple):
    """The end of one part."""

    part: str
    outcome: str
    minutes: float
    facts: list[str]


def main() -> int:
    """Run the parts whose names contain one of the words, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*", help="words in the names of parts")
    words = [word.lower() for word in parser.parse_args().words]
    ends = time.monotonic() + 60 * MAX_MINUTES
    results = []
    for part, arguments in PARTS.items():
        if words and not any(word in part.lower() for word in words):
            continue
        print(f"== {part}", flush=True)
        results.append(run(part, arguments, ends - time.monotonic()))
        print(f"{results[-1].outcome}, {results[-1].minutes:.1f} minutes", flush=True)
    if len(results) == len(PARTS):
        PAGE.write_text(page(results))
    return 0 if all(result.outcome == "passed" for result in results) else 1


def run(part: str, arguments: tuple[str, ...], seconds: float) -> Result:
    """Run one part; its facts are lines of a file, or all that a benchmark prints."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        record, output = Path(folder, "record"), Path(folder, "output")
        settings = {"MLAB_TEST_CLUSTER": "1", "MLAB_CLUSTER_RECORD": str(record)}
        with output.open("w") as file:
            outcome = _outcome(arguments, settings, file.fileno(), seconds)
        text = output.read_text(errors="replace")
        is_test = arguments[0] == "-m"
        facts = record.read_text() if record.exists() else "" if is_test else text
    print(text[-4000:] if outcome != "passed" else facts, flush=True)
    lines = [line for line in facts.splitlines() if line.strip()]
    return Result(part, outcome, (time.monotonic() - started) / 60, lines)


def _outcome(
    arguments: tuple[str, ...], settings: dict[str, str], output: int, seconds: float
) -> str:
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=max(seconds, 0),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done within {MAX_MINUTES} minutes"
    return "failed" if done.returncode else "passed"


def page(results: list[Result]) -> str:
    """Return docs/cluster-record.md."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    slurm = subprocess.run(
        ["sbatch", "--version"], capture_output=True, text=True, check=False
    ).stdout.split()[-1:]
    versions = [f"Python {platform.python_version()}", *(f"Slurm {v}" for v in slurm)]
    versions += [f"{name} {version(name)}" for name in ("submitit", "ray")]
    minutes = sum(result.minutes for result in results)
    rows = [f"| {r.part} | {r.outcome} | {r.minutes:.1f} |" for r in results]
    facts = [f"- {fact}" for result in results for fact in result.facts]
    return "\n".join(
        (
            "# Record of `make cluster`",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {gigabytes:.0f} GB,"
            f" {', '.join(versions)}. {minutes:.0f} minutes in total.",
            "",
            "| part | result | minutes |",
            "|---|---|---|",
            *rows,
            "",
            *facts,
            "",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
