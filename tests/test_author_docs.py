"""Pages for authors of agents and tasks are complete, and their examples run."""

import json
import re
from pathlib import Path

import pytest

from mlagentbench.core.actions import ACTION_SPECS
from mlagentbench.core.task import Budget, Edition, Grading, Source, Task, Validation
from mlagentbench.tasks.load import CANARY, PARTS, load_task
from mlagentbench.tasks.skeleton import TEMPLATES

DOCS = Path(__file__).parents[1] / "docs"
AGENT_PAGE = (DOCS / "add-an-agent.md").read_text()
TASK_PAGE = (DOCS / "add-a-task.md").read_text()
QUICK = Path(__file__).parent / "data/recorded/task"
TABLES = {
    "Top level": Task,
    "`[budget]`": Budget,
    "`[validation]`": Validation,
    "`[grading]`": Grading,
    "`[editions.NAME]`": Edition,
    "`[[editions.NAME.sources]]`": Source,
}
NOT_IN_THE_FILE = {"edition", "data", "folder", "measured", "digest"}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def rows(page, heading):
    """Return the cells of each row of the table below a heading."""
    below = page.partition(f"# {heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0]
    lines = [line.strip("| \n").split(" | ") for line in table.splitlines()]
    return [[cell.strip().strip("`") for cell in line] for line in lines[2:]]


@pytest.mark.parametrize("heading", TABLES)
def test_every_field_of_task_toml_is_listed_with_its_default(heading):
    model = TABLES[heading]
    fields = dict(model.model_fields)
    if model is Task:
        fields = {name: fields[name] for name in fields if name not in NOT_IN_THE_FILE}
    listed = {row[0]: row[1] for row in rows(TASK_PAGE, heading)}
    assert listed.keys() == fields.keys()
    for name, field in fields.items():
        assert (listed[name] == "required") == field.is_required(), name
        if isinstance(field.default, int | float):
            assert listed[name] == f"{field.default:g}" or field.default is False
        elif field.default and isinstance(field.default, str):
            assert listed[name] == field.default


def test_every_part_of_a_task_folder_is_listed():
    listed = {name for row in rows(TASK_PAGE, "Files") for name in row[0].split("`, `")}
    assert {part.rstrip("/") for part in listed} >= {"task.toml", *PARTS}
    used = {path.name for path in TEMPLATES.glob("*/*") if path.name != "__pycache__"}
    assert {part.rstrip("/") for part in listed} >= used
    assert CANARY in TASK_PAGE


def test_every_action_is_listed_with_its_inputs():
    listed = {row[0]: row[1] for row in rows(AGENT_PAGE, "Actions")}
    wanted = {
        spec.name: "`, `".join(spec.parameters) or "-" for spec in ACTION_SPECS.values()
    }
    assert listed == wanted


def test_the_first_example_is_the_skeleton(mlab, tmp_path):
    assert mlab("new-agent", "my_agent").code == 0
    assert blocks(AGENT_PAGE, "python")[0] == (tmp_path / "my_agent.py").read_text()


@pytest.mark.slow
def test_the_example_that_asks_a_model_runs_on_scripted_replies(
    mlab, tmp_path, monkeypatch
):
    (tmp_path / "asking.py").write_text(blocks(AGENT_PAGE, "python")[1])
    (tmp_path / "replies.yaml").write_text(blocks(AGENT_PAGE, "yaml")[0])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = mlab(
        *("run", QUICK, "--agent", "asking:solve"),
        *("--model", "scripted/replies.yaml", "--json"),
    )
    (card,) = json.loads(said.out)["scorecards"]
    assert (card["ending"], card["success"]) == ("submitted", True)
    assert card["tokens"]["output"] == 15


def test_commands_of_the_task_page_exist(mlab, tmp_path):
    first, second = blocks(TASK_PAGE, "console")
    commands = re.findall(r"^\$ mlab (\S+)", first + second, re.MULTILINE)
    assert commands == ["new-task", "check", "run", "measure", "check"]
    (line,) = re.findall(r"new-task (.*?) +#", first)
    assert mlab("new-task", *line.split()).code == 0
    assert load_task(tmp_path / "my-task").id == "my-task"
