"""The lists of ideas: the same for every task, and about none in particular."""

import csv
import re

import pytest

from mlagentbench.agents.prompt_files import ideas_for
from mlagentbench.core.cache import default_cache
from mlagentbench.tasks.load import load_task, task_ids
from mlagentbench.tasks.prepare import prepare_task

_COMMON = {
    "id",
    "text",
    "image",
    "label",
    "target",
    "value",
    "split",
    "class",
    "weight",
}


def words_of_ideas(task):
    return {
        word.lower()
        for idea in ideas_for(task.modality)
        for word in re.findall(r"\w+", idea)
    }


@pytest.mark.parametrize("task_id", task_ids())
def test_every_modality_has_ideas_that_name_no_task(task_id):
    task = load_task(task_id)
    ideas = ideas_for(task.modality)
    assert len(ideas) >= 8
    assert len(set(ideas)) == len(ideas)
    assert not words_of_ideas(task) & set(task_id.lower().split("-")) - {"price"}


@pytest.mark.slow
@pytest.mark.parametrize("task_id", task_ids())
def test_no_idea_names_a_column_of_the_data(task_id):
    task = load_task(task_id)
    columns = set()
    for table in prepare_task(task, default_cache()).public.rglob("*.csv"):
        with table.open(newline="", encoding="utf-8") as file:
            columns |= {column.lower() for column in next(csv.reader(file))}
    assert not words_of_ideas(task) & columns - _COMMON


def test_a_modality_without_a_list_has_no_ideas():
    assert ideas_for("smells") == ()
