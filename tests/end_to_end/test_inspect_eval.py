"""Tasks run by Inspect: models, roles, settings and limits given by Inspect's flags."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_models.cases import CASES
from inspect_ai import eval as inspect_eval
from loopback import provider

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.experiment import Experiment

TASK = "mlagentbench/house-price"
HERE = Path(__file__).parent
RESEARCH = next(case for case in CASES if case.agent == "research")


@pytest.fixture
def evaluate(cache, tmp_path, monkeypatch):
    """Evaluate the task in an empty folder; return Inspect's log and our records."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLAB_CACHE", str(cache))

    def call(**options):
        (log,) = inspect_eval(TASK, log_dir="kept", display="none", **options)
        # The records of an evaluation that failed stay in `logs`.
        (spec,) = tmp_path.glob("*/*/experiment.json")
        return log, Experiment(spec.parent)

    return call


def the_card(experiment):
    (card,) = experiment.scorecards
    return card


@pytest.mark.slow
def test_inspect_command_passes_model_roles_and_settings(cache, tmp_path):
    done = subprocess.run(
        [Path(sys.executable).with_name("inspect"), "eval", TASK,
         "-T", "agent=research",
         "--model", f"scripted/{RESEARCH.model}",
         "--model-role", f"editor=scripted/{RESEARCH.model}",
         *(f"-T{key}={value}" for key, value in RESEARCH.settings.items()),
         "-T", "max_steps=20", "-T", "max_tokens=100000",
         "--log-dir", "kept", "--display", "none"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"MLAB_CACHE": str(cache), "PYTHONPATH": str(HERE)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "kept").glob("*.eval"))
    (path,) = (tmp_path / "kept").glob("*/experiment.json")
    assert list(path.parent.glob("trace/*.jsonl"))
    spec = json.loads(path.read_text())
    assert spec["agent"] == "research"
    assert spec["model"] == f"scripted/{RESEARCH.model}"
    assert spec["roles"] == {"editor": f"scripted/{RESEARCH.model}"}
    assert spec["settings"] == RESEARCH.settings
    assert spec["tasks"][0]["budget"]["steps"] == 20
    assert spec["tasks"][0]["budget"]["tokens"] == 100_000
    card = the_card(Experiment(path.parent))
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.score is not None


@pytest.mark.slow
def test_openai_compatible_server_is_the_model_of_the_run(evaluate, monkeypatch):
    with provider(RESEARCH.model) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        log, experiment = evaluate(
            model=server.model,
            model_args={"stream": False},
            task_args={"agent": "research", **RESEARCH.settings},
            max_retries=3,
        )
    assert log.status == "success", log.error
    assert server.requests
    card = the_card(experiment)
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.model == experiment.spec.model == server.model
    assert experiment.spec.model_args == {"stream": False}
    assert experiment.spec.patience.max_retries == 3


def test_inspect_token_limit_ends_the_run_and_is_scored(evaluate):
    log, experiment = evaluate(model=f"scripted/{RESEARCH.model}", token_limit=50)
    assert log.status == "success", log.error
    assert the_card(experiment).ending is Ending.OUT_OF_TOKENS


def test_inspect_time_limit_ends_the_run_and_is_scored(evaluate):
    log, experiment = evaluate(task_args={"agent": "tuner"}, time_limit=6)
    assert log.status == "success", log.error
    card = the_card(experiment)
    assert card.ending is Ending.OUT_OF_TIME
    assert "6 s" in card.reason


def test_outside_agent_runs_in_its_own_process_and_is_stopped_in_time(evaluate):
    log, experiment = evaluate(task_args={"agent": "hands:looper", "max_minutes": 0.02})
    assert log.status == "success", log.error
    card = the_card(experiment)
    assert card.ending is Ending.OUT_OF_TIME
    assert card.steps == 1


def test_without_model_the_agent_is_the_tuner(evaluate):
    log, experiment = evaluate(task_args={"max_steps": 1})
    assert log.status == "success", log.error
    assert experiment.spec.agent == "tuner"
    assert experiment.spec.model == "none"


def test_epochs_are_refused_in_favour_of_seeds(evaluate):
    log, _ = evaluate(task_args={"agent": "starter"}, epochs=2)
    assert log.status == "error"
    assert "-T runs=N" in log.error.message


def test_judge_role_is_refused_with_the_command_to_use(evaluate):
    with pytest.raises(Exception, match="mlab score EXP"):
        evaluate(
            model=f"scripted/{RESEARCH.model}",
            model_roles={"judge": f"scripted/{RESEARCH.model}"},
        )
