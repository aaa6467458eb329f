"""Commands on systems that lack functions of Linux: no traceback, ever.

The functions are removed in a child process. Nothing was run on another system.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parents[1] / "support" / "other_system.py"
NEEDS_LINUX = "needs Linux: use a Linux machine, a virtual machine, or WSL 2"


@pytest.mark.slow
@pytest.mark.parametrize("system", ["darwin", "windows"])
def test_reading_works_and_the_rest_says_what_it_needs(
    system, recorded, cache, tmp_path
):
    starter, tuner, killed = map(recorded, ("starter", "tuner", "tuner-killed"))
    works = [
        ["--help"], ["tasks"], ["agents"],
        ["show", starter], ["show", tuner, "--diff"], ["show", tuner, "--prompt", "2"],
        ["status", starter, "--page", tmp_path / "status.html"],
        ["compare", starter, tuner], ["report", starter, tuner], ["prune", tuner],
        ["workspace", "house-price", tmp_path / "work"], ["new-agent", "mine"],
        ["new-task", "own", "--kind", "tabular"],
    ]  # fmt: skip
    needs_linux = [
        ["run", "house-price"], ["resume", killed], ["score", starter],
        ["check", "house-price"], ["measure", "house-price"],
        ["grade", "house-price", CHILD],
    ]  # fmt: skip
    commands = [[str(word) for word in words] for words in (*works, *needs_linux)]
    done = subprocess.run(
        [sys.executable, CHILD, system],
        input=json.dumps([*commands, ["doctor"]]), capture_output=True, text=True,
        check=True, cwd=tmp_path, env=os.environ | {"MLAB_CACHE": str(cache)},
    )  # fmt: skip
    *outcomes, doctor = json.loads(done.stdout)
    for words, (code, _, err, traceback) in zip(commands, outcomes, strict=True):
        assert not traceback, (words, traceback)
        if words in commands[: len(works)]:
            assert code == 0, (words, err)
        else:
            assert code == 3, (words, err)
            assert NEEDS_LINUX in err
    code, out, _, traceback = doctor
    assert (code, traceback) == (3, "")
    assert f"this is {system.capitalize()}" in out
