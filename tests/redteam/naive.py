"""Hosts that open what an agent left as if it were their own; each must fall for it.

They work in a child with little memory and little time, on files that the attack has
planted bare in a scratch folder.
"""

import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable

from tests.redteam.attack import Attack, Seen
from tests.redteam.baits import label_rows
from tests.redteam.host_plays import DATA_NAMES, SHELL_NAMES, names_that_lead_out
from tests.redteam.stage import Stage
from tests.redteam.unprotected import folder_of, prepare_bare, printed, started

Live = Callable[[Stage, Attack], Awaitable[Seen]]

_MEMORY = 512 * 2**20
_HANGS = 4
_PATIENCE = 120
"""For what ends by itself, however busy the machine is."""
_BOUNDED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
"""


def host(
    stage: Stage, attack: Attack, code: str, *arguments: str, seconds: int = _PATIENCE
) -> "subprocess.CompletedProcess[str]":
    """Run a naive host's code beside what was planted."""
    return subprocess.run(
        [sys.executable, "-c", _BOUNDED + textwrap.dedent(code), *arguments],
        cwd=folder_of(stage, attack),
        check=False,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def falls_for(code: str, *, by: str) -> Live:
    """Expect a naive host to fail: by what it says, `hangs`, or any error."""

    async def live(stage: Stage, attack: Attack) -> Seen:
        printed(stage, attack)
        seconds = _HANGS if by == "hangs" else _PATIENCE
        try:
            done = host(stage, attack, code, seconds=seconds)
        except subprocess.TimeoutExpired:
            return Seen(succeeded=by == "hangs", evidence=f"hangs for {seconds} s")
        said = (done.stdout + done.stderr).strip()
        last = (said.splitlines() or ["nothing"])[-1]
        return Seen(succeeded=by in said, evidence=f"a naive host: {last[:120]}")

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


async def fills_a_capturing_harness(stage: Stage, attack: Attack) -> Seen:
    """Keep the whole output in memory, as the original did."""
    command = prepare_bare(stage, attack)
    done = host(stage, attack, CAPTURE, *command)
    full = "MemoryError" in done.stderr
    return Seen(succeeded=full, evidence=f"MemoryError with {_MEMORY >> 20} MB")


async def shows_the_labels(stage: Stage, attack: Attack) -> Seen:
    """Read the submission where the link leads."""
    printed(stage, attack)
    done = host(stage, attack, "print(open('submission.csv').read())")
    leaked = label_rows(stage.order).decode() in done.stdout
    return Seen(succeeded=leaked, evidence="a naive host read the labels")


async def reads_outside(stage: Stage, attack: Attack) -> Seen:
    """Join names to the workspace and open them."""
    printed(stage, attack)
    code = """
    for name in sys.argv[1:]:
        try:
            print(open(name).read())
        except OSError:
            pass
    """
    names = names_that_lead_out(str(stage.hints["labels"]))
    done = host(stage, attack, code, *names)
    rows = label_rows(stage.order).decode()
    count = done.stdout.count(rows)
    return Seen(succeeded=count > 0, evidence=f"{count} names gave the labels")


async def writes_data(stage: Stage, attack: Attack) -> Seen:
    """Compare names as they were given, and open them."""
    printed(stage, attack)
    done = host(stage, attack, WRITE, *DATA_NAMES)
    return Seen(succeeded="wrote to 0" not in done.stdout, evidence=done.stdout.strip())


async def runs_a_shell(stage: Stage, attack: Attack) -> Seen:
    """Put the name into a shell's command line, as the original did."""
    prepare_bare(stage, attack)
    folder = folder_of(stage, attack)
    for name in SHELL_NAMES:
        command = f"python3 {name}"
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder, check=False, capture_output=True
        )
    ran = (folder / "pwned").exists()
    return Seen(succeeded=ran, evidence="a command in a name ran")


async def follows_a_swap(stage: Stage, attack: Attack) -> Seen:
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
    with started(stage, attack, stdout=subprocess.DEVNULL):
        done = host(stage, attack, code)
    leaked = not done.stdout.startswith("0 ")
    return Seen(succeeded=leaked, evidence=f"a naive host: {done.stdout.strip()}")
