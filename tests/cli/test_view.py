"""`mlab view` leaves no process, however it ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

MLAB = Path(sys.executable).with_name("mlab")
WITHIN = 120.0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGHUP])
def test_the_viewer_ends_with_the_command(sent, tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [MLAB, "view", tmp_path, "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        # A shell's background job ignores Ctrl-C, and whatever it starts would too.
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    )  # fmt: skip
    try:
        wait_until(lambda: is_open(port))
        process.send_signal(sent)
        process.wait(timeout=WITHIN)
        wait_until(lambda: not is_open(port))
    finally:
        os.killpg(process.pid, signal.SIGKILL) if is_open(port) else process.kill()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_until(holds):
    deadline = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
