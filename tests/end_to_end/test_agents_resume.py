"""Every agent that thinks can be killed, resumed and replayed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from thinking import HERE, ONE_OF_EACH, QUICK, plan_for, trace_of

from mlagentbench.experiment.experiment import Experiment
from mlagentbench.run.pipeline import resume, run

MLAB = Path(sys.executable).with_name("mlab")


def story(experiment):
    """What a run did, asked and was worth, without times."""
    trace = trace_of(experiment)
    (card,) = experiment.scorecards
    told = [
        (s.step, s.agent_step, s.fields, s.action, s.input, s.observation, s.validation)
        for s in trace.steps
    ]
    asked = [
        (call.role, call.asked_by, call.request_sha, call.usage)
        for s in trace.steps
        for call in s.calls
    ]
    return told, asked, card.score, card.ending


def lines_of(experiment):
    """A trace's lines without what a clock or another model's name writes into them."""
    (run_id,) = experiment.runs()
    lines = []
    for raw in experiment.trace_path(run_id).read_text().splitlines():
        line = json.loads(raw)
        for name in ("run", "started", "seconds", "at"):
            line.pop(name, None)
        if "spent" in line:
            line["spent"].pop("seconds")
        if "call" in line:
            line["call"].pop("model")
            line["call"]["reply"].pop("time", None)
        lines.append(line)
    return lines


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_a_killed_run_ends_as_the_undisturbed_one(case, tmp_path, cache):
    whole = run(plan_for(case, tmp_path / "whole", QUICK), cache=cache)
    out = tmp_path / "killed"
    settings = [f"-A{key}={value}" for key, value in case.settings.items()]
    process = subprocess.Popen(
        [MLAB, "run", QUICK, "--agent", case.agent, *settings, "--out", out,
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
    experiment = Experiment(folder)
    resume(experiment, cache=cache)
    assert trace_of(experiment).resumed == 1
    assert story(experiment) == story(whole)


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_a_replay_gives_the_same_trace_but_for_times(case, tmp_path, cache):
    first = run(plan_for(case, tmp_path / "first", QUICK), cache=cache)
    (run_id,) = first.runs()
    again = run(
        plan_for(
            case, tmp_path / "again", QUICK, model=f"replay/{first.trace_path(run_id)}"
        ),
        cache=cache,
    )
    assert lines_of(again) == lines_of(first)
