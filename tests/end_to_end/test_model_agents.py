"""Every agent that thinks with a model, in every language it speaks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import provider
from voices.case import Case
from voices.cases import CASES

from mlagentbench.core.ending import Ending
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.pipeline import resume, run
from mlagentbench.run.plan import Patience, Plan
from mlagentbench.run.tracefile import read_trace

HERE = Path(__file__).parent
QUICK = HERE.parent / "faults" / "quick"
MLAB = Path(sys.executable).with_name("mlab")
ONE_OF_EACH = list(
    {case.agent + case.settings.get("style", ""): case for case in CASES}.values()
)
FAULTS = ("rate_limit", "failure", "malformed", "hang", "break_off")


def plan_for(case: Case, out, task="house-price", **more):
    given = {"model": f"scripted/{case.voice}", "name": "exp"} | more
    return Plan(
        tasks=(str(task),), agent=case.agent, settings=case.settings, out=out, **given
    )


def trace_of(experiment):
    (run_id,) = experiment.runs()
    return read_trace(experiment.trace(run_id), str(run_id))


def story(experiment):
    """What a run did, asked and was worth, without times."""
    trace = trace_of(experiment)
    (card,) = experiment.scorecards()[0]
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_improves_house_price_with_what_its_model_says(case, tmp_path, cache):
    (card,) = run(plan_for(case, tmp_path), cache=cache).scorecards()[0]
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.success
    assert card.tokens["input"] > 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_does_the_same_over_the_network(case, tmp_path, cache, monkeypatch):
    with provider(case.voice) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        streaming = CASES.index(case) % 2 == 0
        plan = plan_for(
            case,
            tmp_path,
            QUICK,
            model=server.model,
            model_args={"stream": streaming},
        )
        experiment = run(plan, cache=cache)
    (card,) = experiment.scorecards()[0]
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.score is not None
    measured = [s.validation.value for s in trace_of(experiment).steps if s.validation]
    assert min(measured) < measured[0]
    assert all(bool(one.get("stream")) == streaming for one in server.requests)


@pytest.mark.parametrize("streaming", [True, False])
def test_what_a_provider_does_wrong_is_borne(streaming, tmp_path, cache, monkeypatch):
    case = CASES[0]
    with provider(case.voice, FAULTS) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        plan = plan_for(
            case,
            tmp_path,
            QUICK,
            model=server.model,
            model_args={"stream": streaming},
            patience=Patience(max_retries=8, attempt_timeout=4),
        )
        (card,) = run(plan, cache=cache).scorecards()[0]
        assert not server.faults
    assert card.ending is Ending.SUBMITTED, card.reason


def test_a_provider_that_fails_for_good_is_not_the_agents_failure(
    tmp_path, cache, monkeypatch
):
    case = CASES[0]
    with provider(case.voice, ("refusal",) * 3) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        plan = plan_for(
            case,
            tmp_path,
            QUICK,
            model=server.model,
            patience=Patience(max_retries=0),
        )
        experiment = run(plan, cache=cache)
        (card,) = experiment.scorecards()[0]
        assert card.ending is Ending.PROVIDER_ERROR
        assert card.score is None
        server.faults.clear()
        resume(experiment, cache=cache)
        (card,) = experiment.scorecards()[0]
    assert card.ending is Ending.SUBMITTED, card.reason


def test_a_key_is_written_nowhere(tmp_path, cache, monkeypatch):
    case = CASES[0]
    with provider(case.voice, ("refusal",)) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        plan = plan_for(
            case,
            tmp_path,
            QUICK,
            model=server.model,
            patience=Patience(max_retries=0),
        )
        experiment = run(plan, cache=cache)
        resume(experiment, cache=cache)
        secret = server.environment["LOOPBACK_API_KEY"].encode()
    kept = [path for path in experiment.folder.rglob("*") if path.is_file()]
    assert len(kept) > 5
    assert not [path for path in kept if secret in path.read_bytes()]


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=str)
def test_a_killed_run_ends_as_the_undisturbed_one(case, tmp_path, cache):
    whole = run(plan_for(case, tmp_path / "whole", QUICK), cache=cache)
    out = tmp_path / "killed"
    settings = [f"-A{key}={value}" for key, value in case.settings.items()]
    process = subprocess.Popen(
        [MLAB, "run", QUICK, "--agent", case.agent, *settings, "--out", out,
         "--model", f"scripted/{case.voice}"],
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
            case, tmp_path / "again", QUICK, model=f"replay/{first.trace(run_id)}"
        ),
        cache=cache,
    )
    assert lines_of(again) == lines_of(first)


def lines_of(experiment):
    """A trace's lines without what a clock or another model's name writes into them."""
    (run_id,) = experiment.runs()
    lines = []
    for raw in experiment.trace(run_id).read_text().splitlines():
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
