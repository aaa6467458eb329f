"""The one path rule."""

import posixpath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.paths import READ_ONLY, workspace_path, writable_path

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
