"""No control character of a run, a model or a stranger's folder reaches a terminal."""

import json
import re

import pytest
from tests.support import records
from tests.support.records import end, experiment_spec, model_call, step

from mlagentbench.core.scorecard import RunId, RunSeconds
from mlagentbench.core.trace import Called, Ending, Seconds, Spent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.study.cell import Cell
from mlagentbench.study.study import Study, open_store
from mlagentbench.tasks.load import load_task

BAD = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\x7f\r\x08[red]\ttab\nline"
HUGE = 1e308
STYLING = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\r?(\x1b\[(1A|2K))+")
"""Colours, and what a live display writes; no text of a run here has any of it."""
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def card(seed, **changes):
    given = {
        "agent": BAD, "model": BAD, "metric": BAD, "version": 2, "score": 1e9,
        "improvement": 0.5, "cost_usd": 1e9, "reason": BAD, "submission_error": BAD,
        "seconds": RunSeconds(total=1e12, model=1e12), "steps": 2,
        "created": BAD,
    }  # fmt: skip
    return records.card("house-price", seed, **(given | changes))


@pytest.fixture
def folder(tmp_path):
    """An experiment with hostile names and texts, and with some huge numbers."""
    experiment = Experiment(tmp_path / "exp")
    task = load_task("house-price")
    spec = experiment_spec(
        task, task.digest, agent="starter", agent_name=BAD, model=BAD, seeds=(0, 1),
        started=BAD, packages={BAD: BAD}, machine=BAD, limits=BAD,
    )  # fmt: skip
    experiment.create(spec)
    for seed in (0, 1):
        run = RunId(task="house-price", agent=BAD, model=BAD, seed=seed)
        with TraceWriter(experiment.trace_path(run)) as trace:
            call = model_call(role=BAD, model=BAD)
            trace.append(Called(run=str(run), call=call))
            large = HUGE if seed else 1e12
            for number in (1, 2):
                trace.append(
                    step(
                        number,
                        BAD,
                        run=str(run),
                        action=BAD,
                        input={BAD: BAD},
                        fields={BAD: BAD},
                        spent=Spent(steps=number, seconds=large),
                        seconds=Seconds(model=large, execute=large),
                        started=BAD,
                        ok=False,
                        error=BAD,
                    )
                )
            ended = end(str(run), Ending.CRASHED, reason=BAD, traceback=BAD, at=BAD)
            trace.append(ended.model_copy(update={"seconds": large}))
        experiment.add_scorecard(card(seed))
        experiment.add_scorecard(card(seed, agent=f"other{BAD}"))
    experiment.add_scorecard(card(2, seconds=RunSeconds(total=HUGE), score=HUGE))
    with (experiment.folder / "scorecards.jsonl").open("a") as file:
        unknown = json.loads(card(3).model_dump_json()) | {BAD: 1}
        file.write(json.dumps(unknown) + '\n{"v": "\\u001b[2J"}\n')
    (experiment.folder / "trace" / "stray\x1b[2J.jsonl").write_text("{}\n")
    (experiment.folder / "opinions.jsonl").write_text(
        json.dumps({"kind": "refusal", "run": str(experiment.runs()[0]),
                    "attempt": 1, "judge": BAD, "why": BAD}) + "\n"
    )  # fmt: skip
    return experiment.folder


@pytest.fixture
def study(tmp_path):
    store = Study(open_store(str(tmp_path / "study")))
    given = {"task_name": f"{BAD}@2/mini", "task_digest": "0", "agent": "starter"}
    cells = [Cell(task="house-price", agent_name=BAD, model=BAD, **given)]
    store.add_plan("study", "", cells)
    return tmp_path / "study"


COMMANDS = (
    ("show", "{exp}"),
    ("show", "{exp}", "--json"),
    ("show", "{exp}:house-price", "--step", "1"),
    ("show", "{exp}", "--diff"),
    ("show", "{exp}", "--prompt", "1"),
    ("show", "{exp}", BAD),
    ("show", "{exp}", "nothing" + BAD.replace("\r", "")),
    ("status", "{exp}"),
    ("status", "{exp}", "--json"),
    ("report", "{exp}"),
    ("report", "{exp}", "--paper"),
    ("report", "{exp}", "--json"),
    ("compare", "{exp}", "{exp}:" + BAD),
    ("compare", "{exp}:other" + BAD, "{exp}:" + BAD),
    ("score", "{exp}"),
    ("prune", "{exp}"),
    ("resume", "{exp}"),
    ("resume", "{exp}", "--debug"),
    ("study", "{study}", "--dry-run"),
    ("study", "{study}", "--dry-run", "--json"),
    ("status", "{study}"),
    ("show", "{study}"),
    ("report", "{study}"),
    (f"no such command {BAD}",),
    ("run", "house-price", f"--{BAD}"),
    ("run", BAD),
)


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("words", COMMANDS, ids=ascii)
def test_no_control_character_is_printed(mlab, folder, study, words, terminal):
    colour = {"FORCE_COLOR": "1", "COLUMNS": "300"} if terminal else {}
    given = [one.replace("{exp}", str(folder)).replace("{study}", str(study))
             for one in words]  # fmt: skip
    said = mlab(*given, **colour)
    for text in (said.out, said.err):
        shown = STYLING.sub("", text) if terminal else text
        assert CONTROLS.findall(shown) == []
        assert "Traceback" not in text or "--debug" in words
    assert said.out or said.err


def test_json_output_keeps_the_data(mlab, folder):
    # The other run has a number that is too large.
    run = RunId(task="house-price", agent=BAD, model=BAD, seed=0)
    said = mlab("show", folder, str(run), "--json")
    assert json.loads(said.out)[0]["steps"][0]["action"] == BAD
