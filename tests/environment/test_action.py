"""What every action has in common, and the rule for paths."""

import asyncio
import posixpath
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlagentbench.core.actions import ACTION_SPECS
from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.paths import READ_ONLY, workspace_path, writable_path


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.name)
def test_wrong_arguments_are_answered_with_the_usage(action):
    with pytest.raises(ActionError, match=re.escape(f"Usage: {action.name} takes")):
        asyncio.run(action.perform(None, {"nonsense": "1"}))


@pytest.mark.parametrize("value", [None, 3, ["x"], {"a": "b"}, b"bytes"])
def test_an_argument_that_is_no_text_is_answered_with_the_usage(value):
    with pytest.raises(ActionError, match="must be text"):
        asyncio.run(ACTIONS["Read File"].perform(None, {"file_name": value}))


def test_every_spec_is_implemented_and_names_its_own_parameters():
    assert list(ACTIONS) == list(ACTION_SPECS)
    for name, spec in ACTION_SPECS.items():
        assert ACTIONS[name] == Action(**vars(spec), do=ACTIONS[name].do)
        assert {spec.reads, spec.writes} - {None} <= set(spec.parameters)


def test_exactly_one_action_ends_the_run():
    assert [a.name for a in ACTIONS.values() if a.ends_run] == ["Final Answer"]


def test_every_action_is_a_tool_with_a_name_of_its_own():
    names = [action.tool_name for action in ACTIONS.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]{1,64}", name) for name in names)
    assert ACTIONS["Execute Script"].tool_name == "execute_script"
    assert ACTIONS["Edit Script (AI)"].tool_name == "edit_script_ai"


PIECES = st.sampled_from(
    ["..", ".", "", "data", "evaluate.py", "src", "a b", "~", "-c", "workspace", "DATA"]
)
JOINED = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("/".join)
PATHS = st.one_of(JOINED, JOINED.map(lambda path: "/workspace/" + path), st.text())


@given(st.lists(PATHS, min_size=20, max_size=20))
@example(["/workspace_secret/x", "data/../../etc/passwd", "./data//train.csv"])
def test_no_path_resolves_outside_and_none_writes_read_only_data(names):
    for name in names:
        try:
            path = writable_path(name)
        except ActionError:
            continue
        resolved = posixpath.normpath(posixpath.join("/workspace", str(path)))
        assert resolved.startswith("/workspace/")
        assert ".." not in path.parts
        assert not any(path.is_relative_to(kept) for kept in READ_ONLY)
        assert "\0" not in str(path)


@pytest.mark.parametrize(
    "name",
    ["data", "data/train.csv", "./data/x", "src/../data/x", "/workspace/data/x",
     "data//x", "evaluate.py", "./evaluate.py", "a/b/../../evaluate.py"],
)  # fmt: skip
def test_every_spelling_of_read_only_data_is_refused_for_writing(name):
    with pytest.raises(ActionError, match="read-only"):
        writable_path(name)
    workspace_path(name)


@pytest.mark.parametrize(
    "name", ["", " ", "/etc/passwd", "..", "a/../..", "/workspace/../x", "/workspace2"]
)
def test_what_lies_outside_or_is_no_name_is_refused(name):
    with pytest.raises(ActionError):
        workspace_path(name)


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x1b[2J", "\ud800", "x" * 300])
def test_odd_text_is_refused_in_a_message_that_is_safe_to_print(name):
    with pytest.raises(ActionError) as refusal:
        workspace_path(name)
    assert str(refusal.value).isprintable()


def test_the_workspace_itself_can_be_listed_but_not_written():
    assert str(workspace_path(".")) == "."
    with pytest.raises(ActionError):
        writable_path(".")
