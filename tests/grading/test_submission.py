"""Submitted code is graded by its outputs and by the harness's clock, nothing else.

What a process may do in one turn, and answers that break the protocol, are tested in
tests/environment/sandbox/test_timed_request.py.
"""

import base64
import re
import shutil
from pathlib import Path

import pytest
from tests.support.code_task import COMPUTING_STARTER, REFERENCE, STARTER

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.units import Aggregate
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task

SHAPED = """
import os, time
import numpy as np
def forward(images, kernels, bias, stride, pad):
    rows = (images.shape[1] + 2 * pad - kernels.shape[1]) // stride + 1
    shape = (len(images), rows, rows, len(bias))
    {body}
"""

CHANNEL = """
import os, stat
for number in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode): break
    except OSError: pass
def frame(data): os.write(number, len(data).to_bytes(8, "big") + data)
"""


def rarely(*values):
    """Mark a case that `make slow` runs."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("code", "least", "most"), [(REFERENCE, 0, 0.5), rarely(STARTER, 0.6, 1.6)]
)
def test_a_score_is_the_time_relative_to_the_starter(grade_layer, code, least, most):
    verdict = grade_layer(code, split="hidden")
    assert least < verdict.score < most
    low, high = verdict.score_ci
    assert low <= verdict.score <= high
    assert verdict.units.aggregate is Aggregate.MEDIAN
    assert len(verdict.units.values) == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return np.zeros(shape)", "an output for input0.arrays is wrong"),
        rarely("return np.full(shape, np.nan)", "wrong"),
        rarely("return np.full(shape, np.inf)", "wrong"),
        ("return np.zeros(shape, np.float32)", "'<f4"),
        rarely("return np.zeros(shape, '>f8')", "'>f8"),
        ("return np.zeros(shape[:-1])", "type and shape"),
        rarely("return np.zeros((1, *shape))", "type and shape"),
        ("return np.full(shape, None)", "'|O"),
        rarely("return np.zeros(shape, [('x' * 500, 'f8')])", "type and shape"),
        rarely("return None", "'|O"),
        rarely("return 'fast'", "type and shape"),
        ("raise RuntimeError('not today')", "RuntimeError: not today"),
        rarely("os._exit(0)", "exit code 0"),
        rarely("time.sleep(999)", "did not answer within 3 s"),
        rarely("return np.zeros(2**23)", "longer than"),
        rarely("return bytearray(2**31)", "memory"),
        rarely("return np.zeros(10**12)", "exit code 1"),
    ],
)
def test_a_wrong_output_is_refused_with_its_reason(grade_layer, body, reason):
    verdict = grade_layer(SHAPED.format(body=body))
    assert verdict.score is None
    assert reason in verdict.submission_error


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("", "has no attribute 'forward'"),
        rarely("def forward(:", "SyntaxError"),
        ("import scipy", "No module named 'scipy'"),
        rarely("import pandas", "No module named 'pandas'"),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused(grade_layer, code, reason):
    assert reason in grade_layer(code).submission_error


@pytest.fixture
def impatient_folder(quick_folder, tmp_path):
    """The same task with one CPU second for the import."""
    folder = tmp_path / "impatient"
    shutil.copytree(quick_folder, folder)
    toml = folder / "task.toml"
    limit = "[grading]\nloading_seconds = 1\n"
    toml.write_text(toml.read_text().replace("[grading]\n", limit))
    return folder


@pytest.mark.parametrize("split", ["visible", "hidden"])
def test_check_and_grading_have_the_same_import_limit(
    grade_layer, impatient_folder, split
):
    code = "while True: pass\n" + REFERENCE
    verdict = grade_layer(code, split=split, folder=impatient_folder)
    assert verdict.submission_error == "layer.py: it was not ready after 1 s"


def test_a_missing_file_is_refused(grade_layer):
    verdict = grade_layer(None, beside={"other.py": ""})
    assert verdict.submission_error == "layer.py is missing"


def test_times_that_the_code_writes_prints_or_patches_are_ignored(grade_layer):
    fake = (
        "import json\n"
        "for name in ('turns.json', 'timings.json', '/tmp/turns.json', 'score.csv'):\n"
        "    open(name, 'w').write(json.dumps({'turns': [], 'seconds': 0.0}))\n"
        "print('ready'); print('relative time=0.001')\n"
        "import sys; sys.stderr.write('score 0.001\\n')\n"
        "import time\n"
        "for name in ('time', 'perf_counter', 'monotonic', 'process_time'):\n"
        "    setattr(time, name, lambda: 0.0)\n"
    )
    # The starter's code takes as long as the starter, give or take the machine's load.
    assert grade_layer(fake + STARTER).score > 0.1


@pytest.mark.slow
def test_a_daemon_does_not_slow_the_starter_down(grade_layer, quick_folder, tmp_path):
    # A starter that sleeps would hide how much the daemon slows its own code down.
    folder = tmp_path / "computing"
    shutil.copytree(quick_folder, folder)
    (folder / "starter" / "layer.py").write_text(COMPUTING_STARTER)
    burner = (
        "import os\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        while True: pass\n"
        "    os._exit(0)\n"
    )
    code = burner + COMPUTING_STARTER
    verdict = grade_layer(code, split="hidden", folder=folder)
    # It shares the one core with itself alone, and may come too late by that.
    assert verdict.score is None or verdict.score > 1.2


def test_neither_processes_nor_files_survive_a_turn(grade_layer):
    leaving = (
        "import os, subprocess\n"
        "for place in ('/workspace/been', '/tmp/been', '/dev/shm/been'):\n"
        "    if os.path.exists(place): raise RuntimeError('I have been here')\n"
        "    open(place, 'w').close()\n"
        "subprocess.Popen(['sleep', '876543'], start_new_session=True)\n"
    )
    verdict = grade_layer(leaving + REFERENCE, split="hidden")
    assert verdict.score is not None
    commands = [_command(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not any(b"876543" in command for command in commands)


def test_remembered_outputs_of_visible_inputs_are_wrong_for_hidden_ones(
    grade_layer, quick_folder, cache
):
    public = prepare_task(load_task(quick_folder), cache).public
    remembered = (public / "data" / "expected.npz").read_bytes()
    code = (
        "import base64, io\nimport numpy as np\n"
        f"TEXT = {base64.b85encode(remembered)!r}\n"
        "KNOWN = np.load(io.BytesIO(base64.b85decode(TEXT)))\n"
        "KNOWN = iter([KNOWN[name] for name in sorted(KNOWN.files)])\n"
        "def forward(*call): return next(KNOWN)\n"
    )
    assert grade_layer(code, split="hidden").score is None


@pytest.mark.parametrize(
    "names",
    [
        ("numpy.py", "sitecustomize.py", "usercustomize.py", "socket.py", "metric.py",
         "driver.py", "inside.py", "pyvenv.cfg", "evil.pth"),
        ("numpy/__init__.py", "grading/__init__.py", "grading/driver.py"),
    ],
    ids=["files", "packages"],
)  # fmt: skip
def test_a_planted_file_is_never_loaded(grade_layer, names):
    planted = dict.fromkeys(names, "import os; os._exit(66)\n")
    verdict = grade_layer(REFERENCE, beside=planted)
    assert verdict.score is not None, verdict.submission_error


def test_a_look_alike_of_the_driver_gains_nothing(grade_layer):
    code = CHANNEL + (
        "os.write(number, b'ready\\n')\n"
        "while os.read(number, 1 << 20): pass\n"
        "frame(bytes(100)); os._exit(0)\n"
    )
    assert "type and shape" in grade_layer(code).submission_error


@pytest.mark.slow
def test_many_megabytes_of_prints_are_dropped_and_cost_only_their_own_time(grade_layer):
    noisy = REFERENCE + (
        "\nquiet = forward\n"
        "def forward(*call):\n"
        "    import os\n"
        "    for _ in range(70): os.write(1, b'x' * (1 << 20))\n"
        "    return quiet(*call)\n"
    )
    verdict = grade_layer(noisy)
    assert verdict.score is None or verdict.score > grade_layer(REFERENCE).score


def test_the_sandbox_shows_no_label_and_no_file_of_the_harness(grade_layer):
    search = (
        "import os\n"
        "OURS = {'expected.npz', 'turns.json', 'input0.arrays', 'task.toml',"
        " 'problem.md', 'measured.json', 'mlagentbench'}\n"
        "for folder, folders, files in os.walk('/'):\n"
        "    if folder.startswith(('/proc', '/usr/share')): continue\n"
        "    if found := OURS.intersection(files + folders):\n"
        "        raise RuntimeError(f'{folder}: {found}')\n"
    )
    verdict = grade_layer(search + REFERENCE)
    assert verdict.score is not None, verdict.submission_error


def test_if_the_starter_fails_too_the_harness_is_at_fault(
    grade_layer, quick_folder, tmp_path
):
    broken = tmp_path / "broken"
    shutil.copytree(quick_folder, broken)
    (broken / "starter" / "layer.py").write_text("raise RuntimeError('ours')\n")
    with pytest.raises(SandboxError, match=r"starter cannot be run either: .*ours"):
        grade_layer("raise RuntimeError('theirs')\n", folder=broken)


def _command(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


LEAKS = (
    ("raise RuntimeError(f'secret {images.flat[0]}')", "exit code 1"),
    ("return np.zeros((31337, 0))", "the grader refused its output"),
)


@pytest.mark.parametrize(("body", "kind"), LEAKS)
def test_a_failure_on_hidden_inputs_passes_on_no_text_of_the_code(
    grade_layer, body, kind
):
    code = SHAPED.format(body=body)
    secret = re.compile("secret|31337")
    assert secret.search(grade_layer(code, split="visible").submission_error)
    hidden = grade_layer(code, split="hidden").submission_error
    assert kind in hidden
    assert not secret.search(hidden)


def test_seconds_of_submitted_code_are_counted_also_if_it_fails(grade_layer):
    busy = "end = time.process_time() + 1\n    while time.process_time() < end: pass"
    for last in ("return np.zeros(shape)", "raise RuntimeError"):
        verdict = grade_layer(SHAPED.format(body=f"{busy}\n    {last}"))
        assert verdict.score is None
        assert verdict.code_seconds >= 0.9
