"""Every agent with a language model can be killed, resumed and replayed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.outcomes import outcome_of
from tests.support.quick_task import QUICK_TASK
from thinking import HERE, ONE_OF_EACH, plan_for, trace_of

from mlagentbench.experiment.experiment import Experiment
from mlagentbench.run.pipeline import resume, run

MLAB = Path(sys.executable).with_name("mlab")

A_FEW = [
    pytest.param(case, marks=[pytest.mark.slow] if place > 1 else [])
    for place, case in enumerate(ONE_OF_EACH)
]
"""Two agents in `make test`, the others in `make slow`."""


def trace_lines(experiment):
    (run_id,) = experiment.runs()
    return experiment.trace_path(run_id).read_text().splitlines()


def lines_of(experiment):
    """A trace's lines without what a clock or another model's name writes into them."""
    lines = []
    for raw in trace_lines(experiment):
        line = json.loads(raw)
        for name in ("run", "started", "seconds", "seconds_left", "at"):
            line.pop(name, None)
        if "spent" in line:
            line["spent"].pop("seconds")
        if "call" in line:
            line["call"].pop("model")
            line["call"].pop("seconds_left", None)
            line["call"]["reply"].pop("time", None)
        lines.append(line)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_a_killed_run_ends_as_the_undisturbed_one(case, tmp_path, cache, undisturbed):
    whole = undisturbed(plan_for(case, tmp_path))
    out = tmp_path / "killed"
    settings = [f"-A{key}={value}" for key, value in case.settings.items()]
    process = subprocess.Popen(
        [MLAB, "run", QUICK_TASK, "--agent", case.agent, *settings, "--out", out,
         "--model", f"scripted/{case.model}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"MLAB_CACHE": str(cache), "PYTHONPATH": str(HERE)},
    )  # fmt: skip
    with process:
        for line in process.stderr:
            if "step 2/" in line:
                break
        process.send_signal(signal.SIGKILL)
    (folder,) = out.iterdir()
    experiment = Experiment(folder, whole.named)
    resume(experiment, cache=cache)
    assert trace_of(experiment).resumed == 1
    assert outcome_of(experiment) == outcome_of(whole)


@pytest.mark.parametrize("case", A_FEW, ids=str)
def test_a_replay_gives_the_same_trace_but_for_times(
    case, tmp_path, cache, undisturbed
):
    first = undisturbed(plan_for(case, tmp_path))
    (run_id,) = first.runs()
    model = f"replay/{first.trace_path(run_id)}"
    again = run(plan_for(case, tmp_path / "again", model=model), cache=cache)
    assert lines_of(again) == lines_of(first)
