"""Ctrl-C on a terminal, with an agent that ignores every request to end."""

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.quick_task import QUICK_TASK

from mlagentbench.experiment.experiment import Experiment

TESTS = Path(__file__).parents[1]
MLAB = Path(sys.executable).with_name("mlab")
CTRL_C = b"\x03"


class Terminal:
    """`mlab run` on a terminal of its own."""

    def __init__(self, out, cache):
        self.seen = ""
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            # A shell starts background jobs with the signal ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ["MLAB_CACHE"] = str(cache)
            os.environ["PYTHONPATH"] = str(TESTS / "end_to_end")
            words = ["run", QUICK_TASK, "--agent", "hands:stubborn", "--out", out]
            os.execv(MLAB, ["mlab", *map(str, words)])

    def wait_for(self, text):
        while text not in self.seen:
            assert self._read(), self.seen

    def press(self, key):
        os.write(self._screen, key)

    def exit_code(self):
        while self._read():
            pass
        os.close(self._screen)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self):
        try:
            data = os.read(self._screen, 65_536)
        except OSError:  # The other end is closed.
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


STUCK = """
import time
from mlagentbench.cli.main import _second_ctrl_c_exits
with _second_ctrl_c_exits():
    while True:
        try:
            print("ready", flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            pass
"""


def test_a_command_that_takes_long_to_end_asks_for_a_second_ctrl_c():
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts background jobs with the signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    asked = process.stderr.readline()
    assert "press Ctrl-C again to stop at once" in asked
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert said == "mlab: stopped\n"
    assert process.returncode == 1


@pytest.fixture
def terminal(tmp_path, cache):
    started = Terminal(tmp_path, cache)
    yield started
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)


@pytest.mark.slow
def test_first_ctrl_c_ends_the_run_so_that_it_can_be_resumed(terminal, tmp_path):
    terminal.wait_for("step 1/")
    terminal.press(CTRL_C)
    assert terminal.exit_code() == 1, terminal.seen
    assert "Exception" not in terminal.seen
    (folder,) = tmp_path.iterdir()
    (card,) = Experiment(folder).scorecards
    assert card.ending == "interrupted"
    assert (folder / "report.html").is_file()


@pytest.mark.slow
def test_second_ctrl_c_ends_the_command_at_once(terminal, tmp_path):
    terminal.wait_for("step 1/")
    terminal.press(CTRL_C)
    # Two signals at the same moment are one; a graceful end takes longer than this.
    time.sleep(0.1)
    terminal.press(CTRL_C)
    assert terminal.exit_code() == 1, terminal.seen
    assert "mlab: stopped" in terminal.seen
    (folder,) = tmp_path.iterdir()
    assert not (folder / "report.html").exists()
    (run,) = Experiment(folder).runs()
    assert len(Experiment(folder).trace(run).steps) == 1
