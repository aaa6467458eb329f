"""The lists of ideas: the same for every task, and about none in particular."""

import re

import pandas as pd
import pytest

from mlagentbench.agents.settings import ideas_for, read_ideas
from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import UsageError
from mlagentbench.tasks.load import load_task, task_ids
from mlagentbench.tasks.prepare import prepare

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


@pytest.mark.parametrize("task_id", task_ids())
def test_every_modality_has_ideas(task_id):
    ideas = ideas_for(load_task(task_id).modality)
    assert len(ideas) >= 8
    assert len(set(ideas)) == len(ideas)


@pytest.mark.parametrize("task_id", task_ids())
def test_no_idea_names_a_task_or_a_column(task_id):
    task = load_task(task_id)
    words = {
        word.lower()
        for idea in ideas_for(task.modality)
        for word in re.findall(r"\w+", idea)
    }
    assert not words & set(task_id.lower().split("-")) - {"price"}
    public = prepare(task, default_cache()).public
    columns = {
        str(column).lower()
        for table in public.rglob("*.csv")
        for column in pd.read_csv(table, nrows=0).columns
    }
    assert not words & columns - _COMMON


def test_ideas_are_given_only_where_they_are_wanted():
    assert read_ideas({}, "tabular") == ()
    assert read_ideas({"ideas": "generic"}, "tabular") == tuple(ideas_for("tabular"))
    assert read_ideas({"ideas": "generic"}, "smells") == ()
    with pytest.raises(UsageError, match="off, generic"):
        read_ideas({"ideas": "good"}, "tabular")
