"""`mlab report`, from experiments' folders that are whole, damaged or given twice."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support import records
from tests.support.records import experiment_spec, step

from mlagentbench.cli.commands.report import command
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId, Scorecard, Starter
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import ExperimentSpec
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.report.caveats import cautions
from mlagentbench.report.collect import view_of
from mlagentbench.report.data import MissingRun
from mlagentbench.report.page import render
from mlagentbench.report.tables import suite_tables
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import load_task

SEEDS = (0, 1, 2)


def run_id(seed: int) -> RunId:
    return RunId(task="house-price", agent="tuner", model="none", seed=seed)


def card(seed: int, **changes) -> Scorecard:
    good = {
        "agent": "tuner", "score": 18000.0, "improvement": 0.3, "success": True,
        "steps": 1, "version": 2, "starter": Starter(mean=26000, sd=200, n=16),
    }  # fmt: skip
    return records.card("house-price", seed, **(good | changes))


def asked(**changes) -> ExperimentSpec:
    task = load_task("house-price")
    given = {"agent": "tuner", "seeds": SEEDS, "packages": {"numpy": "2.0"}} | changes
    return experiment_spec(task, task_digest(task.folder, "mini"), **given)


@pytest.fixture
def made(tmp_path):
    """Make an experiment of three runs; the last one was never graded."""

    def make(name: str = "exp", **changes) -> Experiment:
        experiment = Experiment(tmp_path / name)
        experiment.create(asked(**changes))
        workspace = tmp_path / f"{name}-workspace"
        workspace.mkdir()
        (workspace / "train.py").write_text("print('other code')\n")
        store = SnapshotStore(experiment.snapshots)
        taken = store.take(workspace, previous=StatCache()).id
        for seed in SEEDS[:2]:
            with TraceWriter(experiment.trace_path(run_id(seed))) as trace:
                trace.append(step(run=str(run_id(seed)), snapshot=taken))
            experiment.add_scorecard(card(seed))
        return experiment

    return make


def notes_of(*experiments: Experiment) -> str:
    return "\n".join(view_of(list(experiments)).notes)


def test_an_experiment_is_read_back_whole(made):
    view = view_of([made()])
    assert view.notes == ()
    assert [one.seed for one in view.cards] == [0, 1]
    assert list(view.asked) == [str(run_id(seed)) for seed in SEEDS]
    assert len(view.traces) == 2
    (change,) = view.code[str(run_id(0))].files
    assert (change.name, change.kind) == ("train.py", "changed")
    assert "+print('other code')" in change.lines
    assert view.budgets["house-price@2/mini"][0].steps == 50


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("{")])
def test_without_a_valid_experiment_json_the_scorecards_are_shown(made, spoil):
    experiment = made()
    spoil(experiment.folder / "experiment.json")
    view = view_of([experiment])
    assert len(view.cards) == len(view.traces) == 2
    assert view.asked == {}
    assert "exp: the plan cannot be read: " in view.notes[0]


def test_a_folder_with_nothing_in_it_is_no_experiment(tmp_path):
    with pytest.raises(UsageError, match="not an experiment"):
        view_of([Experiment(tmp_path)])


def test_a_damaged_trace_is_a_note_and_the_others_are_shown(made):
    experiment = made()
    path = experiment.trace_path(run_id(0))
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    view = view_of([experiment])
    assert [trace.run for trace in view.traces] == [str(run_id(1))]
    assert "line 1 is damaged" in "".join(view.notes)
    assert len(view.cards) == 2


def test_a_broken_scorecard_leaves_a_note_and_an_ungraded_run(made):
    experiment = made()
    path = experiment.folder / "scorecards.jsonl"
    path.write_bytes(b'{"torn\n' + path.read_bytes().split(b"\n")[1] + b"\n")
    view = view_of([experiment])
    assert "scorecards.jsonl, line 1" in "".join(view.notes)
    assert [trace.run for trace in view.ungraded] == [str(run_id(0))]


def test_an_unknown_task_is_a_note_and_its_runs_are_shown(made):
    gone = asked().tasks[0].model_copy(update={"source": "house-of-cards"})
    view = view_of([made(tasks=(gone,))])
    assert "house-of-cards" in "".join(view.notes)
    assert view.facts(view.cards[0]).title == "house-price"


def test_a_task_that_was_changed_since_is_a_note(made):
    other = asked().tasks[0].model_copy(update={"digest": "0"})
    assert "house-price was changed since" in notes_of(made(tasks=(other,)))


def test_a_trace_of_nobody_is_named(made):
    experiment = made()
    (experiment.folder / "trace" / "stranger.jsonl").write_text("")
    assert "trace/stranger.jsonl belongs to no known run" in notes_of(experiment)


def test_a_run_in_two_experiments_is_shown_once_and_named(made):
    view = view_of([made("one"), made("two")])
    assert len(view.cards) == len(view.traces) == 2
    assert len(view.asked) == 3
    assert [one.run for one in view.left_out] == [str(run_id(seed)) for seed in SEEDS]
    assert view.notes == tuple(
        f"{run_id(seed)}: also in two; the one of one is shown" for seed in SEEDS
    )


def test_two_batches_that_start_at_the_same_seed_are_both_shown(made, tmp_path):
    folders = [made("one", started="8:00"), made("two", started="9:00")]
    view = view_of(folders)
    names = [f"{run_id(seed)} in {name}" for name in ("one", "two") for seed in SEEDS]
    assert list(view.asked) == names
    graded = [name for name in names if not name.startswith(str(run_id(2)))]
    assert [one.run for one in view.cards] == graded
    assert [one.run for one in view.traces] == graded
    assert list(view.code) == graded
    assert (view.left_out, view.notes) == ((), ())
    (summary,) = suite_tables(view.cards)[0].summaries
    assert summary.counted.runs == 4
    assert "Seeds that occur twice" in {one.title for one in cautions(view)}
    table = tmp_path / "runs.csv"
    call(*(one.folder for one in folders), "--csv", table, "--out", tmp_path / "p.html")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["experiment"] for row in rows] == ["one", "one", "two", "two"]
    assert [row["run"] for row in rows] == 2 * [str(run_id(0)), str(run_id(1))]


def test_runs_of_a_study_without_a_result_are_counted_and_listed(made):
    missing = [
        MissingRun(run=run_id(seed), experiment=f"cell-{seed}", why=why)
        for seed, why in ((0, "waiting"), (7, "failed: no disk"))
    ]
    view = view_of([made()], title="small", missing=missing)
    assert view.title == "small"
    names = [f"{run_id(0)} in cell-0", str(run_id(7))]
    assert view.missing == dict(zip(names, ("waiting", "failed: no disk"), strict=True))
    assert list(view.asked)[-2:] == names
    assert f"2 of 5 runs have no result yet: {names[0]} (waiting), " in view.notes[0]
    page = render(view)
    assert "5 runs were planned" in page
    assert "failed: no disk" in page


def test_a_note_of_many_experiments_is_written_once(made):
    gone = asked().tasks[0].model_copy(update={"source": "house-of-cards"})
    several = [made(f"e{n}", started=f"{n}:00", tasks=(gone,)) for n in range(5)]
    (note,) = view_of(several).notes
    assert note.startswith("e0 and 4 more experiments: unknown task 'house-of-cards'")


def test_scores_of_changed_task_folders_are_not_averaged(made):
    state = asked().tasks[0].model_copy(update={"digest": "0" * 64})
    view = view_of([made("one", started="8:00"), made("two", tasks=(state,))])
    current = asked().tasks[0].digest[:8]
    names = [f"house-price@2/mini ({digest})" for digest in (current, "0" * 8)]
    (table,) = suite_tables(view.cards)
    assert [row.name for row in table.rows] == names
    assert [summary.mixed for summary in table.summaries] == [True]
    assert table.summaries[0].success is None
    assert list(view.budgets) == names
    assert [view.facts(one).unit for one in view.cards] == ["dollars"] * 4
    assert "Several folders of one version" in {one.title for one in cautions(view)}


def test_an_old_scorecard_with_a_stale_baseline_is_no_success(made):
    known = load_task("house-price").measured.starter
    starter = Starter(mean=known.mean, sd=known.sd, n=known.n)
    state = asked().tasks[0].model_copy(update={"digest": "0" * 64})
    experiment = made(tasks=(state,))
    experiment.replace_scorecards([card(0, starter=starter), card(1)])
    view = view_of([experiment])
    # The starter of the second was measured at another time, and cannot be checked.
    assert [one.success for one in view.cards] == [False, True]
    assert view.cards[0].improvement is None
    assert "stale baseline" in "".join(view.notes)


def test_experiments_of_several_agents_stand_side_by_side(made):
    one, two = made("one"), made("two", agent="starter")
    (two.folder / "scorecards.jsonl").unlink()
    for seed in SEEDS:
        run = str(run_id(seed)).replace("tuner", "starter")
        two.add_scorecard(card(seed, agent="starter", run=run))
    view = view_of([one, two])
    assert view.left_out == ()
    assert len(view.asked) == 6
    assert {one.agent for one in view.cards} == {"tuner", "starter"}


def call(*words: object):
    return CliRunner().invoke(command, [str(word) for word in words])


def test_csv_and_latex_write_the_named_files(made, tmp_path):
    experiment, table, tex = made(), tmp_path / "a.csv", tmp_path / "a.tex"
    said = call(experiment.folder, "--csv", table, "--latex", tex, "--json")
    assert said.exit_code == 0, said.output
    document = json.loads(said.stdout)
    assert document["report"] == str(experiment.report)
    assert document["tables"] == [str(table), str(tex)]
    assert table.read_text().count("\n") == 3
    assert "tuner & " in tex.read_text()


def test_the_page_and_a_table_are_written_and_printed(made, tmp_path):
    page, table = tmp_path / "p.html", tmp_path / "runs.csv"
    said = call(made().folder, "--csv", table, "--out", page)
    assert said.stdout == f"report: {page}\ntable: {table}\n"
    assert page.exists()


@pytest.mark.parametrize("words", [[], ["EXP", "--csv"], ["EXP", "--csv", "."]])
def test_wrong_words_are_refused(words):
    assert call(*words).exit_code == 2


def test_what_could_not_be_read_is_said_beside_the_result(made):
    experiment = made()
    (experiment.folder / "trace" / "stranger.jsonl").write_text("")
    said = call(experiment.folder)
    assert "belongs to no known run" in " ".join(said.stderr.split())
    assert said.stdout == f"report: {experiment.report}\n"
    assert "belongs to no known run" in experiment.report.read_text()
