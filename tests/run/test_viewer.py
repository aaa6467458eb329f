"""Inspect's viewer bundled beside a page."""

import pytest
from inspect_ai.log import (  # noqa: TID251  # what a viewer shows is made with it
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    write_eval_log,
)

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.viewer import bundle_viewer

NAME = "2026-11-15T00-00-0{}-00-00_toy_x.eval"


class Toy(Experiment):
    """An experiment of two runs, which needs no experiment.json to say so."""

    def runs(self) -> list[RunId]:
        return [
            RunId(task="toy", agent="a b", model="m/x", seed=seed) for seed in (0, 1)
        ]


@pytest.fixture
def logged(tmp_path):
    def log(place: int, *samples: str) -> Toy:
        experiment = Toy(tmp_path / "exp 1")
        experiment.logs.mkdir(parents=True, exist_ok=True)
        spec = EvalSpec(
            created="2026-11-15T00:00:00+00:00",
            task="toy",
            dataset=EvalDataset(sample_ids=list(samples)),
            model="none",
            config=EvalConfig(),
        )
        made = [EvalSample(id=name, epoch=1, input="i", target="t") for name in samples]
        path = experiment.logs / NAME.format(place)
        write_eval_log(EvalLog(eval=spec, status="success", samples=made), str(path))
        return experiment

    return log


def test_every_logged_run_has_a_link_that_holds_no_odd_character(logged, tmp_path):
    experiment = logged(1, "toy:0", "toy:1", "other:9")
    links = bundle_viewer([experiment], tmp_path / "page traces", [])
    assert links == {
        f"toy:a b:m/x:{seed}": (
            "page%20traces/index.html#/logs/1-exp%201/"
            f"{NAME.format(1)}/samples/sample/toy%3A{seed}/1/"
        )
        for seed in (0, 1)
    }
    assert (tmp_path / "page traces" / "logs" / "1-exp 1" / NAME.format(1)).is_file()


def test_a_run_that_was_resumed_is_shown_from_its_last_log(logged, tmp_path):
    logged(1, "toy:0", "toy:1")
    links = bundle_viewer([logged(2, "toy:1")], tmp_path / "v", [])
    assert NAME.format(1) in links["toy:a b:m/x:0"]
    assert NAME.format(2) in links["toy:a b:m/x:1"]


def test_a_damaged_log_is_a_note_and_the_others_are_bundled(logged, tmp_path):
    experiment = logged(1, "toy:0")
    (experiment.logs / NAME.format(3)).write_bytes(b"no log at all")
    notes: list[str] = []
    assert len(bundle_viewer([experiment], tmp_path / "v", notes)) == 1
    assert notes[0].startswith(f"{NAME.format(3)} cannot be read: ")


def test_an_old_viewer_is_replaced_and_any_other_folder_is_not(logged, tmp_path):
    experiment = logged(1, "toy:0")
    bundle_viewer([experiment], tmp_path / "v", [])
    assert bundle_viewer([experiment], tmp_path / "v", [])
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match="is no viewer"):
        bundle_viewer([experiment], tmp_path / "mine", [])


def test_nothing_is_told_on_standard_output(logged, tmp_path, capsys):
    bundle_viewer([logged(1, "toy:0")], tmp_path / "v", [])
    assert capsys.readouterr().out == ""
