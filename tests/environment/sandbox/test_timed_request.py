"""Timed requests to code that follows the rules, and to code that does not."""

import time

import pytest
from tests.redteam.leftovers import processes_naming

from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.environment.sandbox.timed_request import (
    Answer,
    NoAnswer,
    ResponseLimits,
    ask_sandboxed,
)

pytestmark = pytest.mark.anyio

HONEST = """
import os, sys, time
channel = open(0, "r+b", buffering=0)
def ready(): channel.write(b"ready\\n")
def asked():
    parts = []
    while part := channel.read(1 << 20): parts.append(part)
    return b"".join(parts)
def answer(data): channel.write(len(data).to_bytes(8, "big")); channel.write(data)
"""


@pytest.fixture
def talk(make_sandbox):
    """Run a script with the honest helpers in front of it, and return its answer."""

    async def go(script, *, question=b"2", ready=30.0, answer=30.0, limits=None):
        sandbox = make_sandbox(limits)
        response = ResponseLimits(
            ready_seconds=ready, answer_seconds=answer, answer_bytes=2**20
        )
        command = ["python", "-I", "-c", HONEST + script]
        return await ask_sandboxed(sandbox, command, question, response)

    return go


async def test_an_answer_comes_back_whole_and_timed_from_the_question_on(talk):
    began = time.monotonic()
    answer = await talk(
        "time.sleep(2); ready(); q = asked(); answer(str(len(q)).encode())",
        question=b"q" * 3_000_000,
    )
    assert isinstance(answer, Answer)
    assert answer.contents == b"3000000"
    # Getting ready is not on the clock.
    assert time.monotonic() - began - answer.seconds >= 2


async def test_printed_text_is_not_part_of_the_answer(talk):
    answer = await talk(
        "print('noise'); ready(); print('more'); q = asked(); print(q); answer(b'x')"
    )
    assert answer.contents == b"x"


async def test_time_that_the_code_sleeps_is_on_the_clock(talk):
    answer = await talk("ready(); asked(); time.sleep(0.6); answer(b'')")
    assert answer.seconds >= 0.6


async def test_a_limit_counts_cpu_time_if_that_is_less_than_wall_time(talk):
    waiting = await talk("ready(); asked(); time.sleep(1); answer(b'')", answer=0.5)
    assert isinstance(waiting, Answer)
    computing = await talk("ready(); asked()\nwhile True: pass", answer=0.5)
    assert computing == NoAnswer(reason="it did not answer within 0.5 s")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("time.sleep(99)", "not ready after 0.2 s"),
        ("channel.write(b'reader')", "did not say that it was ready"),
        ("channel.write(b'ready\\n' + bytes(9)); asked()", "before it was asked"),
        ("ready(); time.sleep(99)", "did not answer within 0.4 s"),
        ("ready(); asked(); channel.write(bytes(4)); time.sleep(99)", "did not answer"),
        ("ready(); asked(); channel.write(b'\\xff' * 8)", "longer than 1048576 bytes"),
        ("ready(); asked(); answer(bytes(2**20 + 1))", "longer than 1048576 bytes"),
        (
            "ready(); asked(); channel.write((2**62).to_bytes(8, 'big'))\n"
            "while True: channel.write(bytes(1 << 20))",
            "longer than 1048576 bytes",
        ),
        ("ready(); asked(); channel.write((9).to_bytes(8, 'big'))", "exit code 0"),
        ("raise RuntimeError('my fault')", "exit code 1"),
        ("ready(); asked(); os._exit(7)", "exit code 7"),
        (
            "import socket; socket.socket(fileno=0).shutdown(2); time.sleep(99)",
            "hung up without an answer",
        ),
        ("os.kill(os.getpid(), 9)", "exit code 137"),
    ],
)
async def test_code_that_breaks_the_rules_gets_a_reason_and_no_more_time(
    talk, script, reason
):
    answer = await talk(
        script,
        ready=0.2 if "not ready" in reason else 30.0,
        answer=0.4 if "did not answer" in reason else 30.0,
    )
    assert isinstance(answer, NoAnswer)
    assert reason in answer.reason


async def test_the_output_is_short_and_printable_and_apart_from_the_reason(talk):
    answer = await talk(r"sys.stderr.write('\x1b[31m' + 'x' * 5000); sys.exit(1)")
    assert answer.reason == "it ended with exit code 1"
    assert answer.output.isprintable()
    assert 100 < len(answer.output) < 300


async def test_memory_beyond_the_limit_is_named_as_the_reason(talk):
    answer = await talk(
        # Without control groups the watchdog measures only now and then.
        "ready(); asked(); hog = bytearray(400 << 20); time.sleep(9); answer(hog[:1])",
        limits=Limits(memory_mb=200),
        answer=20.0,
    )
    assert answer == NoAnswer(reason="it took more memory than it may")


async def test_nothing_of_it_is_left_when_the_answer_is_there(talk, tmp_path):
    script = (
        "import subprocess\n"
        "subprocess.Popen(['sleep', '987654'], start_new_session=True)\n"
        "ready(); asked(); answer(b'done'); time.sleep(99)"
    )
    answer = await talk(script)
    assert answer.contents == b"done"
    assert not processes_naming("987654")
