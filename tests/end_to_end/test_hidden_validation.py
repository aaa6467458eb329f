"""Hidden validation data: measured, counted, and in no file that an agent can read."""

import struct
from pathlib import Path

import pytest
from fake_models.cases import CASES
from thinking import ONE_OF_EACH, plan_for, trace_of

from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.environment.sandbox.sandbox import open_sandbox
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.make_jobs import Services, make_jobs
from mlagentbench.run.pipeline import run
from mlagentbench.run.replay import prompts_of
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.skeleton import write_skeleton

PAPER = [
    case
    for case in ONE_OF_EACH
    if case.agent in ("act", "react", "autogpt", "langchain")
] + [next(case for case in CASES if case.settings.get("style") == "classic")]


@pytest.fixture(scope="module")
def rain(tmp_path_factory):
    """A task with hidden validation labels."""
    folder = tmp_path_factory.mktemp("task") / "rain"
    write_skeleton("rain", "tabular", folder)
    return folder


def test_each_measurement_is_a_numbered_query(rain, tmp_path, cache):
    plan = Plan(tasks=(str(rain),), agent="coders:twice", out=tmp_path, name="exp")
    first, second, checked, _ = trace_of(run(plan, cache=cache)).steps
    shown = f"validation mae={first.validation.value:.6g}"
    assert first.note.startswith(shown)
    assert first.note.endswith(", query 1 (measured)")
    assert second.note.endswith(", query 2 (measured)")
    assert first.validation == second.validation
    assert (first.carried, second.carried, checked.carried) == ((), (), None)
    assert checked.note is None
    assert "mae" not in checked.observation


@pytest.mark.slow
@pytest.mark.parametrize("case", PAPER, ids=str)
def test_the_papers_agents_see_only_what_scripts_print(case, rain, tmp_path, cache):
    budget = BudgetOverride(steps=8)
    experiment = run(plan_for(case, tmp_path, rain, budget=budget), cache=cache)
    (run_id,) = experiment.runs()
    steps = trace_of(experiment).steps
    assert any(step.note for step in steps)
    texts = [
        message.text
        for step in steps
        for prompt in prompts_of(experiment, run_id, step.step)
        for message in prompt.messages
    ]
    assert any("left-out training rows" in text for text in texts)
    notes = [step.note for step in steps if step.note]
    values = [f"{step.validation.value:.6g}" for step in steps if step.validation]
    assert not [hit for hit in (*notes, *values) for text in texts if hit in text]


def test_code_that_fails_on_hidden_inputs_reveals_none_of_them(tmp_path, cache):
    write_skeleton("dates", "code", tmp_path / "dates")
    task = load_task(tmp_path / "dates")
    plan = Plan(tasks=(str(task.folder),), agent="coders:failing", out=tmp_path)
    _, _, executed, checked, _ = trace_of(run(plan, cache=cache)).steps
    prepared = prepare_task(task, cache)
    visible, hidden = (
        {line for path in folder.iterdir() for line in path.read_text().splitlines()}
        for folder in (
            prepared.public / task.grading.visible_inputs,
            prepared.private / task.grading.validation_inputs,
        )
    )
    assert executed.validation is None
    assert "failed on hidden inputs" in executed.note
    assert not any(line in executed.note for line in visible | hidden)
    assert any(f"seen {line}" in checked.observation for line in visible)


def test_validation_labels_of_house_price_are_in_no_file_of_the_sandbox(
    tmp_path, cache
):
    plan = Plan(tasks=("house-price",), agent="starter", out=tmp_path)
    services = Services(cache, Silent(), NullObserver())
    (job,) = make_jobs(plan, Experiment(tmp_path / "exp"), services)
    config = job.sandbox_config(seed=0)
    sandbox = open_sandbox(tmp_path / "sandboxes", config.spec, config.limits)
    try:
        mounts = [mount.source for mount in config.spec.mounts]
        files = [
            path for place in (sandbox.workspace, *mounts) for path in _files(place)
        ]
        assert {"train.py", "metric.py", "test.csv"} <= {path.name for path in files}
        for truth in (job.task.validation.truth, job.task.truth):
            hidden = job.prepared.private / truth
            rows = [line.encode() for line in hidden.read_bytes().decode().split()[1:]]
            assert _holders(rows, [hidden])
            assert _holders([*rows, *_packed(rows)], files) == []
            # Single rows are too short to be searched for in all packages.
            several = [b"\n".join(rows[:3]), *_packed(rows[:3])]
            assert _holders(several, _files(config.spec.agent_env)) == []
    finally:
        sandbox.close()


def _files(place: Path) -> list[Path]:
    paths = [place, *place.rglob("*")]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def _packed(rows: list[bytes]) -> list[bytes]:
    """Return the labels of three rows at a time as numbers in memory and as a list."""
    prices = [int(row.split(b",")[1]) for row in rows]
    return [
        needle
        for start in range(0, len(prices) - 2, 3)
        for three in [prices[start : start + 3]]
        for needle in (
            *(struct.pack(f"<3{kind}", *three) for kind in "iqdf"),
            ",".join(map(str, three)).encode(),
        )
    ]


def _holders(needles: list[bytes], files: list[Path]) -> list[Path]:
    """Return the files that hold one of the needles."""
    contents = ((path, path.read_bytes()) for path in files)
    return [path for path, text in contents if any(one in text for one in needles)]
