"""Study files: their cells, their errors and the estimate."""

import math
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.fixture import CATEGORY
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.errors import UsageError
from mlagentbench.study.study_estimate import estimate
from mlagentbench.study.study_file import (
    TEMPLATE,
    StudyFile,
    read_study_file,
    write_template,
)
from mlagentbench.study.study_plan import load_study, plan_study, planned_again
from mlagentbench.tasks.digest import data_digest
from mlagentbench.tasks.load import load_task, task_ids

SMALLEST = """\
name = "small"
[[cells]]
tasks = ["house-price", "spaceship-titanic"]
agents = ["starter", { name = "tuner", settings = { trials = 3 } }]
models = []            # agents without a model ignore it; or ["openai/...", { model = "...", roles = { judge = "..." } }]
seeds = 2              # seeds 0 and 1; a list names them
"""  # noqa: E501  # the contract, as it was written
MODEL, OTHER = "mockllm/model", "mockllm/other"


def cells(tmp_path, table, top=""):
    """Return the cells of a file with one `[[cells]]` table."""
    path = tmp_path / "study.toml"
    path.write_text(f'name = "s"\n{top}\n[[cells]]\n{table}\n')
    return load_study(path).cells


def runs(found):
    return [str(cell.run) for cell in found]


def test_the_smallest_file_is_eight_cells(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALLEST)
    planned = load_study(path)
    assert planned.name == "small"
    assert planned.text == SMALLEST
    assert runs(planned.cells) == [
        f"{task}:{agent}:none:{seed}"
        for task in ("house-price", "spaceship-titanic")
        for agent in ("starter", "tuner[trials=3]")
        for seed in (0, 1)
    ]
    first = planned.cells[0]
    task = load_task("house-price")
    assert (first.task_name, first.task_digest) == (task.name, task.digest)
    assert set(first.agent_env) == {"base"}
    assert first.resources.memory_gb == task.data.memory_gb


NAMES = st.lists(
    st.sampled_from(["house-price", "spaceship-titanic", "imdb"]),
    min_size=1,
    unique=True,
)
AGENTS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.just("tuner"),
            "settings": st.fixed_dictionaries({"trials": st.integers(0, 99)}),
        }
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["settings"]["trials"],
)
SEEDS = st.integers(1, 5) | st.lists(
    st.integers(0, 99), min_size=1, max_size=5, unique=True
)


@given(tasks=NAMES, agents=AGENTS, seeds=SEEDS)
def test_cells_are_the_product_with_unique_ids_in_a_stable_order(tasks, agents, seeds):
    table = {"tasks": tasks, "agents": agents, "seeds": seeds}
    study = StudyFile.model_validate({"name": "s", "cells": [table]})
    found = plan_study(study, QUICK_TASK).cells
    numbers = range(seeds) if isinstance(seeds, int) else seeds
    assert len(found) == len(tasks) * len(agents) * len(numbers)
    assert len({cell.id for cell in found}) == len(found)
    assert found == plan_study(study, QUICK_TASK).cells
    assert [cell.seed for cell in found[: len(numbers)]] == list(numbers)


@given(pairs=st.lists(st.tuples(st.text("abc"), st.text("xyz"))), random=st.randoms())
def test_a_key_does_not_depend_on_the_order_of_settings(pairs, random):
    ordered = dict(pairs)
    shuffled = list(ordered.items())
    random.shuffle(shuffled)
    table = {"tasks": "imdb", "agents": ["starter"]}
    study = StudyFile.model_validate({"name": "s", "cells": [table]})
    (cell,) = plan_study(study, QUICK_TASK).cells
    one = cell.model_copy(update={"settings": ordered})
    other = cell.model_copy(update={"settings": dict(shuffled)})
    assert one.key == other.key


def test_all_and_paper_name_tasks_of_the_suite(tmp_path):
    everything = cells(tmp_path, 'tasks = "all"\nagents = "starter"')
    assert [cell.task for cell in everything] == task_ids()
    paper = cells(tmp_path, 'tasks = ["paper"]\nagents = "starter"')
    assert {cell.task for cell in paper} == set(CATEGORY)


def test_a_task_folder_is_found_from_the_folder_of_the_file(tmp_path):
    shutil.copytree(QUICK_TASK, tmp_path / "mine")
    (cell,) = cells(tmp_path, 'tasks = "./mine"\nagents = "starter"')
    assert cell.task == str(tmp_path / "mine")
    assert cell.task_digest == load_task(QUICK_TASK).digest


def test_only_agents_that_use_a_model_are_combined_with_models(tmp_path):
    found = cells(
        tmp_path,
        'tasks = "imdb"\nagents = ["tuner", "react", "my_agents:solve"]\n'
        f'models = ["{MODEL}", {{ model = "{OTHER}", roles = {{ editor = "{MODEL}",'
        f' judge = "{MODEL}" }}, args = {{ b = 2 }} }}]\nmodel_args = {{ a = 1 }}\n'
        f'judge = {{ model = "{OTHER}", votes = 5 }}\n'
        "limits = { tokens = 100, steps = 9 }",
        top="limits = { minutes = 7, steps = 8 }",
    )
    assert runs(found) == [
        "imdb:tuner:none:0",
        f"imdb:react:{MODEL}:0",
        f"imdb:react:{OTHER}[editor={MODEL}]:0",
        f"imdb:my_agents:solve:{MODEL}:0",
        f"imdb:my_agents:solve:{OTHER}[editor={MODEL}]:0",
    ]
    tuner, plain, shared, *_ = found
    assert (tuner.budget.tokens, tuner.budget.steps, tuner.budget.minutes) == (
        *(None, 9, 7.0),
    )
    assert (plain.budget.tokens, tuner.model_args) == (100, {})
    assert (plain.judge.model, plain.judge.votes) == (OTHER, 5)
    assert (shared.judge.model, shared.judge.votes) == (MODEL, 5)
    assert (plain.model_args, shared.model_args) == ({"a": 1}, {"a": 1, "b": 2})


@pytest.fixture(autouse=True)
def _agents(tmp_path, monkeypatch):
    """A module with an agent."""
    (tmp_path / "my_agents.py").write_text("async def solve(context): ...\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_settings_become_the_text_that_the_command_line_gives(tmp_path):
    (cell,) = cells(
        tmp_path,
        'tasks = "imdb"\nagents = [{ name = "my_agents:solve", label = "mine",'
        ' settings = { a = 3, b = 0.5, c = true, d = "x" } }]',
    )
    assert cell.settings == {"a": "3", "b": "0.5", "c": "true", "d": "x"}
    assert cell.run.agent == "mine[a=3,b=0.5,c=true,d=x]"
    assert cell.agent_digest


def test_changed_code_of_an_agent_is_another_cell(tmp_path):
    table = 'tasks = "imdb"\nagents = "my_agents:solve"'
    (before,) = cells(tmp_path, table)
    (tmp_path / "my_agents.py").write_text("async def solve(context): pass\n")
    (after,) = cells(tmp_path, table)
    assert before.id != after.id


def test_equal_cells_of_two_tables_are_one(tmp_path):
    same = 'tasks = "imdb"\nagents = "starter"\nseeds = 3'
    assert len(cells(tmp_path, f"{same}\n[[cells]]\n{same}")) == 3


@pytest.mark.parametrize(
    ("table", "top", "expected"),
    [
        ('agents = "tuner"', "", "[[cells]] 1, tasks is missing"),
        ('tasks = "imdb"\nagents = [{ nme = "tuner" }]', "",
         "[[cells]] 1, agents 1, nme is not a field; did you mean name?"),
        ('tasks = "imdb"\nagents = "tuner"\nseed = 2', "",
         "[[cells]] 1, seed is not a field; did you mean seeds?"),
        ('tasks = "imdb"\nagents = "tuner"', 'kep = "all"',
         "kep is not a field; did you mean keep?"),
        ('tasks = "imdb"\nagents = "tuner"\nlimits = { hours = 1 }', "",
         "limits, hours is not a field; fields: steps, minutes"),
        ('tasks = "imdb"\nagents = "tuner"\nseeds = true', "",
         "[[cells]] 1, seeds is True: give a number from 1 to"),
        ('tasks = "imdb"\nagents = []', "", "[[cells]] 1, agents may not be empty"),
        ('tasks = "imdb"\nagents = "tuner"\nseeds = [-1]', "",
         "seeds 1 is -1: it should be greater than or equal to 0"),
        ('tasks = "imbd"\nagents = "tuner"', "",
         "[[cells]] 1: unknown task 'imbd'; did you mean imdb?"),
        ('tasks = "imdb"\nagents = "tuner"\neditions = "huge"', "",
         "task imdb has no edition 'huge'"),
        ('tasks = "imdb"\nagents = "tuna"', "",
         "[[cells]] 1: unknown agent 'tuna'; did you mean tuner?"),
        ('tasks = "imdb"\nagents = [{ name = "tuner", settings = { trials = 0.5 } }]',
         "", "[[cells]] 1: invalid value '0.5' for -A trials"),
        ('tasks = "imdb"\nagents = ["react"]', "",
         "[[cells]] 1: agent react needs a language model; add one to models"),
        ('tasks = "imdb"\nagents = ["react"]\nmodels = ["nobody/x"]', "",
         "[[cells]] 1: unknown model 'nobody/x'"),
        (f'tasks = "imdb"\nagents = "react"\nmodels = "{MODEL}"\n'
         'roles = { boss = "m" }', "", "unknown role 'boss' in roles"),
        ('tasks = "all"\nagents = "tuner"\nseeds = 100_000', "",
         "more than 100,000 cells"),
        ('tasks = "imdb"\nagents = "tuner"', 'prices = "none.toml"',
         "none.toml cannot be read"),
    ],
)  # fmt: skip
def test_an_error_names_the_file_and_the_field(tmp_path, table, top, expected):
    with pytest.raises(UsageError) as raised:
        cells(tmp_path, table, top)
    assert str(raised.value).startswith(f"{tmp_path / 'study.toml'}: ")
    assert expected in str(raised.value)


@pytest.mark.parametrize("name", ["", "a b", "../a", "-a"])
def test_a_name_that_is_not_a_folder_name_is_refused(tmp_path, name):
    path = tmp_path / "study.toml"
    path.write_text(f'name = "{name}"\n[[cells]]\ntasks = "imdb"\nagents = "tuner"\n')
    with pytest.raises(UsageError, match="name may not be"):
        load_study(path)


def test_a_task_with_unresolved_packages_is_refused(tmp_path):
    task = shutil.copytree(QUICK_TASK, tmp_path / "mine")
    toml = task / "task.toml"
    toml.write_text(f'agent_packages = ["lightgbm"]\n{toml.read_text()}')
    with pytest.raises(UsageError, match=r"`mlab prepare .*mine` first"):
        cells(tmp_path, 'tasks = "./mine"\nagents = "starter"')


def test_two_versions_of_one_task_are_refused(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(QUICK_TASK, tmp_path / name)
    (tmp_path / "two" / "problem.md").write_text("Another problem.\n")
    with pytest.raises(UsageError, match=r"is given twice, as .*one and .*two"):
        cells(tmp_path, 'tasks = ["./one", "./two"]\nagents = "starter"')


def test_resources_come_from_the_edition_and_do_not_change_its_data(tmp_path):
    task = shutil.copytree(QUICK_TASK, tmp_path / "mine")
    before = data_digest(load_task(task))
    toml = task / "task.toml"
    mini = "[editions.mini]\n"
    toml.write_text(toml.read_text().replace(mini, f"{mini}cpus = 2\ngpus = 1\n"))
    (cell,) = cells(tmp_path, 'tasks = "./mine"\nagents = "starter"')
    assert (cell.resources.cpus, cell.resources.gpus) == (2, 1)
    assert data_digest(load_task(task)) == before


def test_the_estimate_adds_up_limits(tmp_path):
    found = cells(
        tmp_path,
        f'tasks = "imdb"\nagents = ["tuner", "react"]\nmodels = "{MODEL}"\nseeds = 4\n'
        "limits = { minutes = 30, cost_usd = 2, steps = 5 }",
        top='prices = "prices.toml"',
    )
    most = estimate(found, "submission", parallel=2)
    assert (most.cells, most.hours, most.cost_usd) == (8, 2.0, 8.0)
    assert most.disk_gb == 8 * load_task("imdb").budget.submission_mb / 1024
    sizes = [estimate(found, keep, 1).disk_gb for keep in ("submission", "best", "all")]
    assert sizes == sorted(set(sizes))
    # One cell cannot be shared by machines.
    assert estimate(found[:1], "best", parallel=100).hours == 0.5
    no_limit = found[-1].model_copy(update={"budget": found[0].budget})
    assert math.isinf(estimate([no_limit], "best", 1).cost_usd)


@pytest.fixture(autouse=True)
def _prices(tmp_path):
    (tmp_path / "prices.toml").write_text(f'["{MODEL}"]\ninput = 1\noutput = 2\n')


def test_a_new_file_is_complete_and_mentions_every_field(tmp_path):
    path = tmp_path / "my study.toml"
    write_template(path)
    planned = load_study(path)
    assert (planned.name, len(planned.cells)) == ("my-study", 4)
    with pytest.raises(UsageError, match="already exists"):
        write_template(path)
    # Its comments are a file, too.
    text = re.sub(r"(?m)^# (?=\w+ = |\[\[)", "", TEMPLATE.read_text())
    path.write_text(text)
    _, study = read_study_file(path)
    named = {name for one in (study, *study.cells) for name in one.model_fields_set}
    known = {*StudyFile.model_fields, *type(study.cells[0]).model_fields}
    assert known - named == {"roles", "judge"}


def test_a_stored_study_keeps_the_options_of_its_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(f'keep = "all"\nconnections = {{ openai = 4 }}\n{SMALLEST}')
    planned = load_study(path)
    assert planned_again(planned.name, planned.text, planned.cells) == planned
