"""Edit Script (AI): only what is whole is written, and all of it can be undone."""

import pytest

from mlagentbench.core.errors import ActionError, ProviderError
from mlagentbench.environment.action import Completion
from mlagentbench.environment.actions.model_edits import LONGEST_CODE

pytestmark = pytest.mark.anyio

OLD = "a = 1\nb = 2\n"


def block(code):
    return f"Here you are:\n```python\n{code}```\nDone."


async def edit(desk, script="train.py", save=None):
    return await desk.act(
        "Edit Script (AI)",
        script_name=script,
        edit_instruction="Set b to 3.",
        save_name=save or script,
    )


async def test_the_difference_is_shown_and_the_script_written(desk, voice):
    await desk.put("train.py", OLD)
    voice.replies = [block("a = 1\nb = 3\n")]
    told = await edit(desk)
    assert told == (
        "train.py was written. The difference to train.py:\n"
        "--- train.py\n+++ train.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3"
    )
    assert await desk.read("train.py") == "a = 1\nb = 3\n"
    assert voice.roles == ["editor"]
    assert voice.tokens == [4_000]
    assert OLD in voice.asked[0]
    assert "Set b to 3." in voice.asked[0]


async def test_a_script_that_is_not_there_starts_empty(desk, voice):
    voice.replies = [block("a = 1\n")]
    told = await edit(desk, "deep/er/new.py")
    assert "+a = 1" in told
    assert await desk.read("deep/er/new.py") == "a = 1\n"


async def test_undoing_gives_back_what_each_edit_replaced(desk, voice):
    await desk.put("models/net.py", OLD)
    voice.replies = [block("second\n"), block("third\n")]
    await edit(desk, "models/net.py")
    await edit(desk, "models/net.py")
    assert await desk.read("models/net.py") == "third\n"
    for earlier in ("second\n", OLD):
        await desk.act("Undo Edit Script", script_name="models/net.py")
        assert await desk.read("models/net.py") == earlier
    with pytest.raises(ActionError, match="no change"):
        await desk.act("Undo Edit Script", script_name="models/net.py")


async def test_what_was_saved_elsewhere_is_undone_there(desk, voice):
    await desk.put("train.py", OLD)
    await desk.put("best.py", "kept\n")
    voice.replies = [block("new\n")]
    assert "+++ best.py" in await edit(desk, "train.py", "best.py")
    assert await desk.read("train.py") == OLD
    await desk.act("Undo Edit Script", script_name="best.py")
    assert await desk.read("best.py") == "kept\n"


async def test_an_answer_without_code_is_asked_for_once_more(desk, voice):
    await desk.put("train.py", OLD)
    voice.replies = ["I would set b to 3.", block("a = 1\nb = 3\n")]
    await edit(desk)
    first, again = voice.asked
    assert again.startswith(first)
    assert "no code block that begins with ```python" in again
    assert "I would set" not in again


async def test_two_answers_without_code_become_an_observation(desk, voice):
    await desk.put("train.py", OLD)
    voice.replies = ["Sure.", "```\nb = 3\n```"]
    with pytest.raises(ActionError, match=r"in 2 tries: .* Nothing was written"):
        await edit(desk)
    assert await desk.read("train.py") == OLD
    assert not await desk.has("backup/train.py/000001")


async def test_an_answer_that_was_cut_off_is_not_written(desk, voice):
    await desk.put("train.py", OLD)
    voice.replies = [Completion(block("a = 1\n"), cut_off=True)]
    with pytest.raises(ActionError, match="cut off by the length limit"):
        await edit(desk)
    assert await desk.read("train.py") == OLD


@pytest.mark.parametrize("name", ["data/train.csv", "evaluate.py", "../x.py", "."])
async def test_what_may_not_be_written_is_refused_before_any_question(
    desk, voice, name
):
    with pytest.raises(ActionError):
        await edit(desk, "train.py", name)
    assert voice.asked == []


async def test_a_script_that_could_not_come_back_whole_is_not_sent(desk, voice):
    await desk.put("train.py", "x" * (LONGEST_CODE + 1))
    with pytest.raises(ActionError, match="Edit Script Segment"):
        await edit(desk)
    assert voice.asked == []


async def test_an_edit_that_changes_nothing_says_so(desk, voice):
    await desk.put("train.py", OLD)
    voice.replies = [block(OLD)]
    assert "no line differs" in await edit(desk)


async def test_half_characters_and_backticks_do_no_harm(desk, voice):
    await desk.put("train.py", b"\xff```python\n")
    voice.replies = [block("a = '\ud800'\n")]
    told = await edit(desk)
    told.encode()
    voice.asked[0].encode()
    assert await desk.read("train.py") == "a = '\ufffd'\n"


async def test_a_provider_that_fails_is_not_the_agents_mistake(desk, voice):
    voice.replies = [ProviderError("no connection")]
    with pytest.raises(ProviderError, match="no connection"):
        await edit(desk)
