"""The same attacks without the protection, where each must succeed.

A script is run as a plain child of ours in a scratch folder, the way the original
benchmark did it. Every script bounds itself, and its whole session is killed.
Attacks on the harness itself plant files bare; then a naive host, a child with little
memory and little time, opens them as if they were its own and must fail.
"""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.redteam.attack import ATTACKS, Attack, Seen, evidence_in
from tests.redteam.attempt import HELPER, perform
from tests.redteam.checks import BURNT, MARK
from tests.redteam.meanwhile import Act, when_ready
from tests.redteam.sandboxed import DATA_NAMES, SHELL_NAMES, names_that_lead_out
from tests.redteam.setup import AttackSetup, bare_workspace, hints_text, label_rows

Live = Callable[[AttackSetup, Attack], Awaitable[Seen]]

_PATIENCE = 240
"""For what ends by itself, however busy the machine is."""


def prepare_bare(setup: AttackSetup, attack: Attack) -> list[str]:
    """Lay out a workspace with the attack in it; return the command that runs it."""
    folder = bare_workspace(setup, attack.name)
    (folder / HELPER).write_bytes((ATTACKS.parent / HELPER).read_bytes())
    (folder / "hints.json").write_text(hints_text(setup.hints, bare=True))
    (folder / f"{attack.name}.py").write_text(attack.script)
    return [str(setup.job.agent_env / "bin" / "python"), "-u", f"{attack.name}.py"]


def folder_of(setup: AttackSetup, attack: Attack) -> Path:
    """Return where an attack lies bare."""
    return setup.scratch / "bare" / attack.name


@contextmanager
def started(
    setup: AttackSetup, attack: Attack, **streams: int
) -> Iterator["subprocess.Popen[str]"]:
    """Start an attack bare; kill its whole session afterwards."""
    child = subprocess.Popen(
        prepare_bare(setup, attack),
        cwd=folder_of(setup, attack),
        text=True,
        errors="replace",
        start_new_session=True,
        # As careless code does it, so that a forgotten descriptor is inherited.
        close_fds=False,
        **streams,
    )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def printed(setup: AttackSetup, attack: Attack) -> str:
    """Run an attack bare to its end and return what it printed."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(setup, attack, **pipes) as child:
        return child.communicate(timeout=_PATIENCE)[0]


async def bare(setup: AttackSetup, attack: Attack) -> Seen:
    """Run the script as a plain child and believe it."""
    return evidence_in(printed(setup, attack))


async def bare_finds_all(setup: AttackSetup, attack: Attack) -> Seen:
    """Run a search as a plain child: bare, it must find every thing it looks for."""
    seen = await bare(setup, attack)
    whole = seen.succeeded and seen.evidence.startswith("6 of 6")
    return Seen(whole, seen.evidence)


async def loosened(setup: AttackSetup, attack: Attack) -> Seen:
    """Run it in the same sandbox with only the limit in question lifted."""
    return await perform(setup, attack, loosened=True)


async def survives_sigterm(setup: AttackSetup, attack: Attack) -> Seen:
    """End it as a polite harness does, and see that it lives on."""
    with started(setup, attack, stdout=subprocess.PIPE) as child:
        if child.stdout is not None:
            child.stdout.readline()
        child.terminate()
        await asyncio.sleep(1)
        alive = child.poll() is None
    return Seen(alive, "alive a second after SIGTERM")


async def holds_a_waiting_harness(setup: AttackSetup, attack: Attack) -> Seen:
    """Wait for the end of its output, as `subprocess.run` does."""
    with started(setup, attack, stdout=subprocess.PIPE) as child:
        child.wait(timeout=_PATIENCE)
        try:
            child.communicate(timeout=4)
        except subprocess.TimeoutExpired:
            return Seen(True, "the reader waits, the child is gone")
    return Seen(False, "the reader was not held")


async def blocks_a_line_reader(setup: AttackSetup, attack: Attack) -> Seen:
    """Read its streams line by line, one after the other, as the original did."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(setup, attack, **pipes) as child:
        reader = asyncio.get_running_loop().run_in_executor(
            None, child.stdout.readline if child.stdout else str
        )
        done, _ = await asyncio.wait([reader], timeout=4)
        blocked = not done and child.poll() is None
        os.killpg(child.pid, signal.SIGKILL)
        await reader
    return Seen(blocked, "reader and child wait for each other")


async def changes_it_later(setup: AttackSetup, attack: Attack) -> Seen:
    """Look at the submission again after the script has ended."""
    printed(setup, attack)
    submission = folder_of(setup, attack) / "submission.csv"
    before = submission.read_bytes()
    end = time.monotonic() + _PATIENCE
    while submission.read_bytes() == before and time.monotonic() < end:
        await asyncio.sleep(0.1)
    changed = submission.read_bytes() != before
    return Seen(changed, "the submission changed after the end")


async def dies_slowly(setup: AttackSetup, attack: Attack) -> Seen:
    """Kill it, and see that a harness which waits half a second gives up too early."""
    with started(setup, attack, stdout=subprocess.PIPE) as child:
        if child.stdout is not None:
            child.stdout.readline()
        began = time.monotonic()
        os.killpg(child.pid, signal.SIGKILL)
        while _session_lives(child.pid):
            await asyncio.sleep(0.01)
        took = time.monotonic() - began
    return Seen(took > 0.5, f"dying took {took:.1f} s")


def _session_lives(leader: int) -> bool:
    # The leader itself stays until it is waited for.
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-s", str(leader)],
        check=False,
        capture_output=True,
        text=True,
    )
    return any(not state.startswith("Z") for state in listed.stdout.split())


async def seems_the_harness(setup: AttackSetup, attack: Attack) -> Seen:
    """Judge by the words on the error stream, as careless code does."""
    said = printed(setup, attack)
    blamed = said.startswith("setpriv: ") and "Permission denied" in said
    return Seen(blamed, "the words blame the sandbox")


async def adds_up(setup: AttackSetup, attack: Attack) -> Seen:
    """Run it four times in one place that nobody watches."""
    command = prepare_bare(setup, attack)
    folder = folder_of(setup, attack)
    for _ in range(4):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    size = sum(path.stat().st_blocks for path in folder.iterdir()) * 512 // 10**6
    return Seen(size > 1000, f"{size} MB after four executions")


_MEMORY = 512 * 2**20
_HANGS = 4
_BOUNDED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
"""


def host(
    setup: AttackSetup,
    attack: Attack,
    code: str,
    *arguments: str,
    seconds: int = _PATIENCE,
) -> "subprocess.CompletedProcess[str]":
    """Run a naive host's code beside what was planted."""
    return subprocess.run(
        [sys.executable, "-c", _BOUNDED + textwrap.dedent(code), *arguments],
        cwd=folder_of(setup, attack),
        check=False,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def falls_for(code: str, *, by: str) -> Live:
    """Expect a naive host to fail: by what it says, `hangs`, or any error."""

    async def live(setup: AttackSetup, attack: Attack) -> Seen:
        printed(setup, attack)
        seconds = _HANGS if by == "hangs" else _PATIENCE
        try:
            done = host(setup, attack, code, seconds=seconds)
        except subprocess.TimeoutExpired:
            return Seen(by == "hangs", f"hangs for {seconds} s")
        said = (done.stdout + done.stderr).strip()
        last = (said.splitlines() or ["nothing"])[-1]
        return Seen(by in said, f"a naive host: {last[:120]}")

    return live


READ = "print(len(open('submission.csv', 'rb').read()), 'bytes were read')"
COPY = """
import os, shutil
shutil.copy2("submission.csv", "kept")
print(f"kept with mode {os.stat('kept').st_mode & 0o7777:o}")
"""
COPY_ALL = """
import shutil
shutil.copytree(".", "../copy", symlinks=True)
"""
LIST = """
import os
listing = "\\n".join(map(os.fsdecode, os.listdir(b".")))
odd = [line for line in listing.splitlines() if not line.isprintable()]
print("shows", len(odd), "lines that forge or colour" if odd else "")
"""
CAPTURE = """
import subprocess
kept = subprocess.run(sys.argv[1:], capture_output=True).stdout
print(len(kept))
"""
WRITE = """
import os
written = []
for name in sys.argv[1:]:
    name = name.replace("/workspace", os.getcwd())
    # The original compares the name as it was given with a list of names.
    if name in ("./data/train.csv", "./evaluate.py"):
        continue
    try:
        with open(name, "a") as file:
            file.write("x")
        written.append(name)
    except OSError:
        pass
print("wrote to", len(written), "of", len(sys.argv) - 1)
"""


async def fills_a_capturing_harness(setup: AttackSetup, attack: Attack) -> Seen:
    """Keep the whole output in memory, as the original did."""
    command = prepare_bare(setup, attack)
    done = host(setup, attack, CAPTURE, *command)
    full = "MemoryError" in done.stderr
    return Seen(full, f"MemoryError with {_MEMORY >> 20} MB")


async def shows_the_labels(setup: AttackSetup, attack: Attack) -> Seen:
    """Read the submission where the link leads."""
    printed(setup, attack)
    done = host(setup, attack, "print(open('submission.csv').read())")
    leaked = label_rows(setup.job).decode() in done.stdout
    return Seen(leaked, "a naive host read the labels")


async def reads_outside(setup: AttackSetup, attack: Attack) -> Seen:
    """Join names to the workspace and open them."""
    printed(setup, attack)
    code = """
    for name in sys.argv[1:]:
        try:
            print(open(name).read())
        except OSError:
            pass
    """
    names = names_that_lead_out(str(setup.hints["labels"]))
    done = host(setup, attack, code, *names)
    rows = label_rows(setup.job).decode()
    count = done.stdout.count(rows)
    return Seen(count > 0, f"{count} names gave the labels")


async def writes_data(setup: AttackSetup, attack: Attack) -> Seen:
    """Compare names as they were given, and open them."""
    printed(setup, attack)
    done = host(setup, attack, WRITE, *DATA_NAMES)
    return Seen("wrote to 0" not in done.stdout, done.stdout.strip())


def bare_meanwhile(act: Act) -> Live:
    """Run the script as a plain child, and act while it has all in place."""

    async def live(setup: AttackSetup, attack: Attack) -> Seen:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with started(setup, attack, **pipes) as child:
            folder = folder_of(setup, attack)

            async def look() -> str:
                python = str(setup.job.agent_env / "bin" / "python")
                command = [python, f"{attack.name}.py", "look"]
                return await asyncio.to_thread(_output_of, command, folder)

            seen = await when_ready(folder, lambda: child.poll() is not None, act, look)
            said = child.communicate(timeout=_PATIENCE)[0]
        return seen or evidence_in(said)

    return live


def _output_of(command: list[str], folder: Path) -> str:
    return subprocess.run(
        command,
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_PATIENCE,
    ).stdout


def copies_exceed(megabytes: int, steps: int = 5) -> Live:
    """Copy the whole folder after each step, as the original benchmark does."""

    async def live(setup: AttackSetup, attack: Attack) -> Seen:
        command = prepare_bare(setup, attack)
        folder = folder_of(setup, attack)
        size = 0
        for _ in range(steps):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            # A plain copy writes every hole as zeros.
            size += sum(path.stat().st_size for path in folder.rglob("*"))
        return Seen(
            size > megabytes * 10**6, f"{size // 10**6} MB after {steps} copies"
        )

    return live


async def computes(setup: AttackSetup, attack: Attack) -> Seen:
    """Call submitted code as a harness that counts only its own executions."""
    code = f"import {attack.name} as code; code.forward([], 0, 0, 0, 0)"
    used = _called(setup, attack, f"import numpy\n{code}")[1]
    _, burnt = BURNT[attack.name]
    return Seen(used >= burnt, f"{used:.1f} CPU seconds, counted by nobody")


async def shows_its_last_words(setup: AttackSetup, attack: Attack) -> Seen:
    """Keep the end of its error stream, as a harness does to be helpful."""
    code = f"import {attack.name} as c; c.forward(numpy.ones(9), 0, 0, 0, 0)"
    said = _called(setup, attack, f"import numpy\n{code}")[0]
    return Seen(MARK in said, said[-60:])


def _called(setup: AttackSetup, attack: Attack, code: str) -> tuple[str, float]:
    prepare_bare(setup, attack)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder_of(setup, attack),
        check=False,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stderr, used


async def runs_a_shell(setup: AttackSetup, attack: Attack) -> Seen:
    """Put the name into a shell's command line, as the original did."""
    prepare_bare(setup, attack)
    folder = folder_of(setup, attack)
    for name in SHELL_NAMES:
        command = f"python3 {name}"
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder, check=False, capture_output=True
        )
    ran = (folder / "pwned").exists()
    return Seen(ran, "a command in a name ran")


async def follows_a_swap(setup: AttackSetup, attack: Attack) -> Seen:
    """Check that the folder is no link, then open the file in it."""
    code = """
    import os, time
    end = time.monotonic() + 60
    looks = leaks = 0
    while not leaks and time.monotonic() < end:
        looks += 1
        try:
            if not os.path.islink("swap"):
                leaks += open("swap/answers.csv").read(4) != "ours"
        except OSError:
            pass
    print(leaks, "leaks in", looks, "looks")
    """
    with started(setup, attack, stdout=subprocess.DEVNULL):
        done = host(setup, attack, code)
    leaked = not done.stdout.startswith("0 ")
    return Seen(leaked, f"a naive host: {done.stdout.strip()}")
