"""Record which system calls programs make, for the sandbox's allow list.

    python tools/record_system_calls.py suite [TASK ...]     starters and references
    python tools/record_system_calls.py shell                bash, coreutils and others
    python tools/record_system_calls.py python               the standard library
    python tools/record_system_calls.py NAME COMMAND ...     any other program

Every call gets the program's name in environment/sandbox/system_calls.txt. Nothing is
removed from that file. Read the difference before you commit it: a call that reaches
other processes or rarely used parts of the kernel stays refused even if a program tries
it. `HELD_BACK` names such calls.

Needs strace and the headers of the C library (`apt install strace libc6-dev`).
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from mlagentbench.core.cache import default_cache
from mlagentbench.environment.agent_env import ensure_agent_env, ensure_task_env
from mlagentbench.environment.sandbox.sandbox_folder import copy_workspace
from mlagentbench.environment.sandbox.sandbox_spec import FIXED_ENVIRONMENT
from mlagentbench.environment.sandbox.seccomp import (
    LIST,
    AllowedCall,
    Numbers,
    read_list,
    read_refused,
)
from mlagentbench.run.job import visible_files
from mlagentbench.tasks import load_task, prepare_task, task_ids

PROGRAMS = Path(__file__).parent / "recorded_programs"
HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)
SECONDS = 60
"""A reference trains for minutes, and makes nearly all of its calls at the start."""


def main() -> int:
    """Record the programs that the command line names."""
    name, *rest = sys.argv[1:]
    if name == "suite":
        for task in rest or task_ids():
            _record_task(task)
    elif name == "shell":
        _record("shell", ["bash", str(PROGRAMS / "shell.sh")])
    elif name == "python":
        python = ensure_agent_env(default_cache(), "base").path / "bin" / "python"
        _record("python", [str(python), str(PROGRAMS / "library.py")])
    else:
        _record(name, rest)
    return 0


def _record_task(name: str) -> None:
    task = load_task(name)
    prepared = prepare_task(task, default_cache())
    env = ensure_task_env(default_cache(), task, task.agent_env)
    python = str(env.path / "bin" / "python")
    for solution in ("starter", "reference"):
        with tempfile.TemporaryDirectory() as scratch:
            workspace = Path(scratch)
            copy_workspace(
                task.part("starter"), visible_files(task, prepared), workspace
            )
            for file in task.part(solution).iterdir():
                if file.is_file():
                    (workspace / file.name).write_bytes(file.read_bytes())
            _record(task.id, [python, task.script], workspace)


def _record(program: str, command: list[str], cwd: Path | None = None) -> None:
    calls = read_list()
    seen = _trace(command, cwd)
    numbers = [_numbers(header) for header in HEADERS]
    refused = {call.name for call in read_refused()}
    for name in sorted(seen - refused):
        known = calls.get(name)
        programs = {program, *(known.programs if known else ())}
        x86_64, aarch64 = (table.get(name, -1) for table in numbers)
        calls[name] = AllowedCall(Numbers(x86_64, aarch64), tuple(sorted(programs)))
    print(f"{program}: {len(seen)} calls, refused {sorted(seen & refused)}")
    _write(calls)


def _trace(command: list[str], cwd: Path | None) -> set[str]:
    """Run a command for at most `SECONDS` and return the names of its calls."""
    with tempfile.TemporaryDirectory() as scratch:
        counts = Path(scratch) / "counts"
        strace = ["strace", "-f", "-c", "-U", "name", "-o", str(counts), *command]
        variables = FIXED_ENVIRONMENT | {"MLAB_SEED": "0", "PATH": "/usr/bin:/bin"}
        with subprocess.Popen(
            strace, cwd=cwd, env=variables, start_new_session=True
        ) as running:
            try:
                running.wait(SECONDS)
            except subprocess.TimeoutExpired:
                # strace itself blocks this signal.
                os.killpg(running.pid, signal.SIGTERM)
        words = counts.read_text().split()
    return {word for word in words if re.fullmatch(r"[a-z_0-9]+", word)} - {
        "syscall",
        "total",
    }


def _numbers(header: Path) -> dict[str, int]:
    defined = re.findall(
        r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE
    )
    numbers = {name: int(number) for name, number in defined}
    if "fstatat" in numbers:
        numbers["newfstatat"] = numbers["fstatat"]
    return numbers


def _write(calls: dict[str, AllowedCall]) -> None:
    head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
    rows = [
        f"{name:24} {call.numbers.x86_64:4} {call.numbers.aarch64:4}  "
        f"{','.join(call.programs)}"
        for name, call in sorted(calls.items())
    ]
    LIST.write_text("\n".join([*head, *rows]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
