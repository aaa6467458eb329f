"""Edit Script Segment (AI): the lines named change, and no other byte does."""

import pytest

from mlagentbench.core.errors import ActionError

pytestmark = pytest.mark.anyio

OLD = "one\r\ntwo\n\x0cthree\nfour"


async def edit(workspace, start, end, save="a.py", script="a.py"):
    return await workspace.act(
        "Edit Script Segment (AI)",
        script_name=script,
        start_line_number=str(start),
        end_line_number=str(end),
        edit_instruction="Shout.",
        save_name=save,
    )


@pytest.fixture
async def script(workspace):
    await workspace.put("a.py", OLD)
    return workspace


async def test_only_the_segment_is_shown_and_replaced(script, model):
    model.replies = ["```python\nTWO\n    TOO\n```"]
    observation = await edit(script, 2, 2)
    assert await script.read("a.py") == "one\r\nTWO\n    TOO\n\x0cthree\nfour"
    assert "-two\n+TWO\n+    TOO" in observation
    (asked,) = model.asked
    assert "Its lines 2 to 2:" in asked
    assert "```text\ntwo\n```" in asked
    assert "four\n" not in asked
    assert model.roles == ["editor"]


async def test_the_first_and_the_last_line_can_be_changed(script, model):
    model.replies = ["```python\nONE\n```", "```python\nFOUR\n```"]
    await edit(script, 1, 1)
    await edit(script, 4, 4)
    assert await script.read("a.py") == "ONE\ntwo\n\x0cthree\nFOUR\n"
    await script.act("Undo Edit Script", script_name="a.py")
    await script.act("Undo Edit Script", script_name="a.py")
    assert await script.read("a.py") == OLD


async def test_an_empty_block_takes_the_lines_out(script, model):
    model.replies = ["```python\n```"]
    await edit(script, 2, 3)
    assert await script.read("a.py") == "one\r\nfour"


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (0, 2, "counted from 1"),
        (3, 2, "comes before"),
        ("x", 2, "whole numbers"),
        (1, 5, "has only 4 lines"),
    ],
)
async def test_lines_that_are_not_there_are_refused_before_any_question(
    script, model, start, end, why
):
    with pytest.raises(ActionError, match=why):
        await edit(script, start, end)
    assert model.asked == []


async def test_what_may_not_be_written_or_read_is_refused_before_any_question(
    script, model
):
    with pytest.raises(ActionError, match="read-only"):
        await edit(script, 1, 1, save="data/a.py")
    with pytest.raises(ActionError, match="there is no file b"):
        await edit(script, 1, 1, script="b.py")
    await script.put("c.py", b"one\n\xff\n")
    with pytest.raises(ActionError, match="no UTF-8"):
        await edit(script, 1, 1, script="c.py")
    assert model.asked == []
