"""Editions in folders of their own: parts, fields, digests, code and data."""

import pytest

from mlagentbench.core.errors import TaskError, UsageError
from mlagentbench.tasks.digest import data_digest
from mlagentbench.tasks.load import (
    editions_of,
    load_task,
    problem,
    read_measured,
    write_measured,
)
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.skeleton import write_skeleton
from mlagentbench.tasks.task_code import load_grade

TABLE = """
unit = "kPa"
sd_floor = 0.5

[budget]
steps = 300

[editions.full]
data = "generated"
summary = "more mixtures"
size_mb = 2
"""


@pytest.fixture
def folder(tmp_path):
    """A task with the editions mini and full; full has its own starter."""
    folder = tmp_path / "rain"
    write_skeleton("rain", "tabular", folder)
    (folder / "full" / "starter").mkdir(parents=True)
    (folder / "full" / "task.toml").write_text(TABLE)
    (folder / "full" / "starter" / "train.py").write_text("print('full')\n")
    return folder


def digests(folder):
    return {name: load_task(folder, edition=name).digest for name in ("mini", "full")}


def test_an_edition_takes_what_it_omits_from_the_task(folder):
    mini, full = load_task(folder), load_task(folder, edition="full")
    assert editions_of(folder) == ["full", "mini"]
    assert (mini.unit, full.unit) == ("MPa", "kPa")
    assert full.budget == mini.budget.model_copy(update={"steps": 300})
    assert (full.id, full.metric, full.name) == ("rain", "mae", "rain@1/full")
    assert full.part("starter") == folder.resolve() / "full" / "starter"
    assert full.part("reference") == mini.part("reference") == folder / "reference"
    assert mini.part("starter") == folder.resolve() / "starter"
    assert "300 steps" in problem(full)
    (folder / "full" / "problem.md").write_text("{steps} long steps")
    assert problem(full) == "300 long steps"


def test_an_edition_changes_nothing_of_the_digests_of_another(tmp_path, folder):
    write_skeleton("rain", "tabular", tmp_path / "alone")
    before = digests(folder)
    assert before["mini"] == load_task(tmp_path / "alone").digest
    assert load_task(folder).measured.digest == before["mini"]
    (folder / "full" / "metric.py").write_text("x = 1\n")
    after = digests(folder)
    assert after["mini"] == before["mini"]
    assert after["full"] != before["full"]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("starter/train.py", {"mini"}),
        ("full/starter/train.py", {"full"}),
        ("full/task.toml", {"full"}),
        ("task.toml", {"mini", "full"}),
        ("grade.py", {"mini", "full"}),
        ("measured.json", set()),
    ],
)
def test_the_digest_of_an_edition_covers_its_resolved_files(folder, name, changed):
    before = digests(folder)
    with (folder / name).open("a") as file:
        file.write("\n")
    after = digests(folder)
    assert {one for one in before if before[one] != after[one]} == changed


def test_the_graders_of_the_task_use_the_metric_of_the_edition(folder, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("Id,strength\n1,10\n")
    answers = tmp_path / "answers.csv"
    answers.write_text("Id,strength\n1,13\n")
    text = (folder / "metric.py").read_text()
    (folder / "full" / "metric.py").write_text(text.replace("abs(p - a)", "7.0"))
    for edition, score in (("mini", 3.0), ("full", 7.0)):
        grade = load_grade(load_task(folder, edition=edition))
        assert grade(answers, truth).score == score


def test_the_data_of_an_edition_is_prepared_by_its_own_code(folder, tmp_path):
    before = data_digest(load_task(folder))
    text = (
        (folder / "prepare.py")
        .read_text()
        .replace("TRAIN, VALIDATION = 300, 100", "TRAIN, VALIDATION = 20, 10")
    )
    (folder / "full" / "prepare.py").write_text(text)
    (folder / "full" / "files").mkdir()
    lines = (folder / "files" / "mixtures.csv").read_text().splitlines(keepends=True)
    (folder / "full" / "files" / "mixtures.csv").write_text("".join(lines[:51]))
    assert data_digest(load_task(folder)) == before
    counts = {}
    for edition in ("mini", "full"):
        task = load_task(folder, edition=edition)
        prepared = prepare_task(task, tmp_path / "cache")
        assert prepared.folder.name.startswith(f"rain@1-{edition}-")
        table = prepared.public / "data" / "test.csv"
        counts[edition] = len(table.read_text().splitlines()) - 1
    assert counts == {"mini": 200, "full": 20}


def test_measurements_of_all_editions_are_in_one_file(folder):
    mini = read_measured(folder)["mini"]
    assert load_task(folder, edition="full").measured is None
    write_measured(folder, "full", mini.model_copy(update={"digest": "f" * 64}))
    assert load_task(folder, edition="full").measured.digest == "f" * 64
    assert load_task(folder).measured == mini


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("unit =", 'id = "other"\nunit =', "id must be that of the task"),
        ("[editions.full]", "[editions.huge]", "must be editions.full"),
        ("unit =", 'edition = "x"\nunit =', "edition is not a field of a task"),
        ("steps = 300", "steps = 0", "full/task.toml: budget.steps is 0"),
        ("sd_floor", "colour", "full/task.toml: colour is not a field"),
    ],
)
def test_a_malformed_table_of_an_edition_is_refused(folder, old, new, reason):
    path = folder / "full" / "task.toml"
    assert old in TABLE
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(TaskError) as raised:
        load_task(folder, edition="full")
    assert reason in str(raised.value)
    assert load_task(folder).edition == "mini"


def test_an_edition_is_declared_once_and_reads_its_own_files(folder):
    (folder / "full" / "files").mkdir()
    (folder / "full" / "files" / "mixtures.csv").touch()
    with pytest.raises(TaskError, match=r"files/ needs a prepare\.py beside it"):
        load_task(folder, edition="full")
    (folder / "mini").mkdir()
    (folder / "mini" / "task.toml").write_text(TABLE.replace("full", "mini"))
    with pytest.raises(TaskError, match=r"task\.toml has editions\.mini too"):
        load_task(folder)


@pytest.mark.parametrize("edition", ["huge", "starter", "../rain/full", "."])
def test_only_editions_are_loaded(folder, edition):
    (folder / "starter" / "task.toml").write_text(TABLE)
    with pytest.raises(UsageError, match="choose from: full, mini"):
        load_task(folder, edition=edition)
