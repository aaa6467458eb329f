"""Agents of the tests' own: each does one thing the harness must bear."""

import asyncio
import contextlib
import signal
import time

from mlagentbench.agents.context import Context

BAD_SUBMISSIONS = {
    "missing": "pass",
    "wrong columns": "write('Id,Price\\n1,2\\n')",
    "not a number": "write(good.replace(row, row.split(',')[0] + ',nan'))",
    "infinite": "write(good.replace(row, row.split(',')[0] + ',inf'))",
    "duplicate ids": "write(good + row + '\\n')",
    "missing ids": "write(good.replace(row + '\\n', ''))",
    "text for a number": "write(good.replace(row, row.split(',')[0] + ',dear'))",
    "binary junk": "open('submission.csv', 'wb').write(bytes(range(256)) * 99)",
    "too large": "open('submission.csv', 'wb').truncate(2_000_000_000)",
    "a symlink": "os.symlink('/etc/passwd', 'submission.csv')",
    "a fifo": "os.mkfifo('submission.csv')",
    "a folder": "os.mkdir('submission.csv')",
}

_SCRIPT = """
import os
good = open('submission.csv').read()
row = good.splitlines()[1]
os.remove('submission.csv')
def write(text): open('submission.csv', 'w').write(text)
case = {cases!r}[int(os.environ['MLAB_SEED'])]
print(case)
exec(case)
"""


async def bad_submitter(context: Context) -> None:
    """Hand in something unacceptable, another thing for each seed."""
    await context.act("Execute Script", script_name=context.task.script)
    script = _SCRIPT.format(cases=list(BAD_SUBMISSIONS.values()))
    await context.act("Write File", file_name="spoil.py", content=script)
    await context.act("Execute Script", script_name="spoil.py")
    await context.act("Check Submission")
    await context.act("Final Answer", final_answer="done")


async def quitter(context: Context) -> None:
    """Give up at once."""


async def printer(context: Context) -> None:
    """Print more than an observation may hold."""
    step = await context.act("Python REPL", command="print('a' * 30_000 + 'end')")
    await context.act("Final Answer", final_answer=step.told[-20:])


async def raiser(context: Context) -> None:
    """Fail in its own code."""
    await context.act("List Files", dir_path=".")
    raise RuntimeError("my own mistake")


async def endless(context: Context) -> None:
    """Never stop by itself."""
    while True:
        await context.act("List Files", dir_path="data")


async def sleeper(context: Context) -> None:
    """Run a script that ignores every signal and leaves daemons behind."""
    script = """
import os, signal, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: pass
        os._exit(0)
print('ignoring', flush=True)
while True: time.sleep(1)
"""
    await context.act("Write File", file_name="sleep.py", content=script)
    await context.act("Execute Script", script_name="sleep.py")
    await context.act("Final Answer", final_answer="never reached")


async def fumbler(context: Context) -> None:
    """Call actions wrongly in every way."""
    await context.act("No Such Action", x="1")
    await context.act("Read File", wrong="train.py")
    await context.act("Read File", file_name="/etc/passwd")
    await context.act("Write File", file_name="data/train.csv", content="x")
    await context.act("Write File", file_name="a/b/new.txt", content="made")
    await context.act("Read File", file_name="a/b/new.txt")
    await context.act("Execute Script", script_name="absent.py")
    refused = (
        "import contextlib, os\nwith contextlib.suppress(OSError): os.memfd_create('')"
    )
    await context.act("Python REPL", command=refused)
    await context.act("Final Answer", final_answer="done")


async def editor(context: Context) -> None:
    """Edit, append, copy and undo, in a sub-folder too."""
    name = "sub/dir/notes.txt"
    await context.act("Write File", file_name=name, content="one")
    await context.act("Write File", file_name=name, content="two")
    await context.act("Append File", file_name=name, content=" three")
    await context.act("Copy File", source=name, destination="copy.txt")
    await context.act("Undo Edit Script", script_name=name)
    await context.act("Undo Edit Script", script_name=name)
    await context.act("Undo Edit Script", script_name=name)
    await context.act("Read File", file_name="copy.txt")
    await context.act("Append File", file_name="fresh.txt", content="new")
    await context.act("Copy File", source="copy.txt", destination="data/x.csv")
    await context.act("Undo Edit Script", script_name="evaluate.py")
    await context.act("Python REPL", command="import os; x = 1; print(os.getcwd())")
    await context.act("Python REPL", command="print(x)")
    await context.act("Copy File", source="absent", destination="copy.txt")
    await context.act("Final Answer", final_answer="done")


async def napper(context: Context) -> None:
    """Sleep in a way that blocks everything else in its process."""
    await context.act("List Files", dir_path=".")
    time.sleep(600)


async def looper(context: Context) -> None:
    """Compute without end."""
    await context.act("List Files", dir_path=".")
    while True:
        pass


async def stubborn(context: Context) -> None:
    """Ignore cancellation and signals."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(BaseException):
        await context.act("List Files", dir_path=".")
    while True:
        with contextlib.suppress(BaseException):
            await asyncio.sleep(600)


async def flooder(context: Context) -> None:
    """Print without end."""
    await context.act("List Files", dir_path=".")
    while True:
        print("x" * 10_000)  # noqa: T201  # on purpose


async def asker(context: Context) -> None:
    """Ask for the remaining budget without end."""
    await context.act("List Files", dir_path=".")
    while True:
        context.remaining()


async def waiter(context: Context) -> None:
    """Wait as for a client of its own; act on the remaining time before and after."""
    before = context.remaining().seconds
    await asyncio.sleep(0.5)
    await context.act("List Files", dir_path=".", why=f"{before}")
    await asyncio.sleep(0.5)
    await context.act("List Files", dir_path=".", why=f"{context.remaining().seconds}")
