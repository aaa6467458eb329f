"""The research log: written by one action, read by two."""

import pytest

pytestmark = pytest.mark.anyio


async def note(workspace, content):
    return await workspace.act("Append Summary to Research Log", content=content)


async def test_entries_stand_below_each_other(workspace):
    assert "research_log.log" in await note(workspace, "tried a tree")
    await note(workspace, "it overfits\n\n")
    assert await workspace.read("research_log.log") == "tried a tree\nit overfits\n"


async def test_what_the_log_says_about_a_plan_is_retrieved(workspace, model):
    await note(workspace, "a tree scored 0.7 ```")
    model.replies = ["The tree scored 0.7."]
    observation = await workspace.act(
        "Retrieval from Research Log", current_plan="try forests"
    )
    assert observation == "The tree scored 0.7."
    (asked,) = model.asked
    assert "````text\na tree scored 0.7 ```\n````" in asked
    assert "try forests" in asked
    assert model.roles == ["helper"]


@pytest.mark.parametrize("blank", [None, "", " \n"])
async def test_an_empty_log_says_so_and_asks_nobody(workspace, model, blank):
    if blank is not None:
        await workspace.put("research_log.log", blank)
    observation = await workspace.act(
        "Retrieval from Research Log", current_plan="try forests"
    )
    assert observation.startswith("The research log is empty")
    assert model.asked == []


async def test_of_a_huge_log_both_ends_are_read(workspace, model):
    await workspace.put("research_log.log", f"begin {'x' * 1_000_000} end")
    model.replies = ["long"]
    await workspace.act("Retrieval from Research Log", current_plan="read")
    assert len(model.asked[0]) < 45_000
    assert "begin xx" in model.asked[0]
    assert "xx end" in model.asked[0]


async def test_a_reflection_knows_the_problem_and_the_log(workspace, model):
    model.replies = ["Begin with a baseline.", "Try a forest."]
    reflect = {"things_to_reflect_on": "what next?"}
    assert await workspace.act("Reflection", **reflect) == "Begin with a baseline."
    assert "(nothing yet)" in model.asked[0]
    await note(workspace, "a tree scored 0.7")
    assert await workspace.act("Reflection", **reflect) == "Try a forest."
    asked = model.asked[1]
    assert "````text\nPredict the price of ```houses```.\n````" in asked
    assert "a tree scored 0.7" in asked
    assert "what next?" in asked
    assert model.roles == ["helper", "helper"]
