"""Edit Script (AI): only what is whole is written, and all of it can be undone."""

import pytest

from mlagentbench.core.errors import ActionError, ProviderError
from mlagentbench.environment.action import Completion
from mlagentbench.environment.actions.model_edits import LONGEST_CODE

pytestmark = pytest.mark.anyio

OLD = "a = 1\nb = 2\n"


def block(code):
    return f"Here you are:\n```python\n{code}```\nDone."


async def edit(workspace, script="train.py", save=None):
    return await workspace.act(
        "Edit Script (AI)",
        script_name=script,
        edit_instruction="Set b to 3.",
        save_name=save or script,
    )


async def test_the_difference_is_shown_and_the_script_written(workspace, model):
    await workspace.put("train.py", OLD)
    model.replies = [block("a = 1\nb = 3\n")]
    observation = await edit(workspace)
    assert observation == (
        "train.py was written. The difference to train.py:\n"
        "--- train.py\n+++ train.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3"
    )
    assert await workspace.read("train.py") == "a = 1\nb = 3\n"
    assert model.roles == ["editor"]
    assert model.tokens == [4_000]
    assert OLD in model.asked[0]
    assert "Set b to 3." in model.asked[0]


async def test_a_script_that_is_not_there_starts_empty(workspace, model):
    model.replies = [block("a = 1\n")]
    observation = await edit(workspace, "deep/er/new.py")
    assert "+a = 1" in observation
    assert await workspace.read("deep/er/new.py") == "a = 1\n"


async def test_undoing_gives_back_what_each_edit_replaced(workspace, model):
    await workspace.put("models/net.py", OLD)
    model.replies = [block("second\n"), block("third\n")]
    await edit(workspace, "models/net.py")
    await edit(workspace, "models/net.py")
    assert await workspace.read("models/net.py") == "third\n"
    for earlier in ("second\n", OLD):
        await workspace.act("Undo Edit Script", script_name="models/net.py")
        assert await workspace.read("models/net.py") == earlier
    with pytest.raises(ActionError, match="no change"):
        await workspace.act("Undo Edit Script", script_name="models/net.py")


async def test_what_was_saved_elsewhere_is_undone_there(workspace, model):
    await workspace.put("train.py", OLD)
    await workspace.put("best.py", "kept\n")
    model.replies = [block("new\n")]
    assert "+++ best.py" in await edit(workspace, "train.py", "best.py")
    assert await workspace.read("train.py") == OLD
    await workspace.act("Undo Edit Script", script_name="best.py")
    assert await workspace.read("best.py") == "kept\n"


async def test_an_answer_without_code_is_asked_for_once_more(workspace, model):
    await workspace.put("train.py", OLD)
    model.replies = ["I would set b to 3.", block("a = 1\nb = 3\n")]
    await edit(workspace)
    first, again = model.asked
    assert again.startswith(first)
    assert "no code block that begins with ```python" in again
    assert "I would set" not in again


async def test_two_answers_without_code_become_an_observation(workspace, model):
    await workspace.put("train.py", OLD)
    model.replies = ["Sure.", "```\nb = 3\n```"]
    with pytest.raises(ActionError, match=r"in 2 tries: .* Nothing was written"):
        await edit(workspace)
    assert await workspace.read("train.py") == OLD
    assert not await workspace.has("backup/train.py/000001")


async def test_an_answer_that_was_cut_off_is_not_written(workspace, model):
    await workspace.put("train.py", OLD)
    model.replies = [Completion(block("a = 1\n"), cut_off=True)]
    with pytest.raises(ActionError, match="cut off by the length limit"):
        await edit(workspace)
    assert await workspace.read("train.py") == OLD


@pytest.mark.parametrize("name", ["data/train.csv", "evaluate.py", "../x.py", "."])
async def test_what_may_not_be_written_is_refused_before_any_question(
    workspace, model, name
):
    with pytest.raises(ActionError):
        await edit(workspace, "train.py", name)
    assert model.asked == []


async def test_a_script_that_could_not_come_back_whole_is_not_sent(workspace, model):
    await workspace.put("train.py", "x" * (LONGEST_CODE + 1))
    with pytest.raises(ActionError, match="Edit Script Segment"):
        await edit(workspace)
    assert model.asked == []


async def test_an_edit_that_changes_nothing_says_so(workspace, model):
    await workspace.put("train.py", OLD)
    model.replies = [block(OLD)]
    assert "no line differs" in await edit(workspace)


async def test_half_characters_and_backticks_do_no_harm(workspace, model):
    await workspace.put("train.py", b"\xff```python\n")
    model.replies = [block("a = '\ud800'\n")]
    observation = await edit(workspace)
    observation.encode()
    model.asked[0].encode()
    assert await workspace.read("train.py") == "a = '\ufffd'\n"


async def test_a_provider_that_fails_is_not_the_agents_mistake(workspace, model):
    model.replies = [ProviderError("no connection")]
    with pytest.raises(ProviderError, match="no connection"):
        await edit(workspace)
