"""The research log: written by one action, read by two."""

import pytest

pytestmark = pytest.mark.anyio


async def note(desk, content):
    return await desk.act("Append Summary to Research Log", content=content)


async def test_entries_stand_below_each_other(desk):
    assert "research_log.log" in await note(desk, "tried a tree")
    await note(desk, "it overfits\n\n")
    assert await desk.read("research_log.log") == "tried a tree\nit overfits\n"


async def test_what_the_log_says_about_a_plan_is_retrieved(desk, voice):
    await note(desk, "a tree scored 0.7 ```")
    voice.replies = ["The tree scored 0.7."]
    told = await desk.act("Retrieval from Research Log", current_plan="try forests")
    assert told == "The tree scored 0.7."
    (asked,) = voice.asked
    assert "````text\na tree scored 0.7 ```\n````" in asked
    assert "try forests" in asked
    assert voice.roles == ["helper"]


@pytest.mark.parametrize("blank", [None, "", " \n"])
async def test_an_empty_log_says_so_and_asks_nobody(desk, voice, blank):
    if blank is not None:
        await desk.put("research_log.log", blank)
    told = await desk.act("Retrieval from Research Log", current_plan="try forests")
    assert told.startswith("The research log is empty")
    assert voice.asked == []


async def test_of_a_huge_log_both_ends_are_read(desk, voice):
    await desk.put("research_log.log", f"begin {'x' * 1_000_000} end")
    voice.replies = ["long"]
    await desk.act("Retrieval from Research Log", current_plan="read")
    assert len(voice.asked[0]) < 45_000
    assert "begin xx" in voice.asked[0]
    assert "xx end" in voice.asked[0]


async def test_a_reflection_knows_the_problem_and_the_log(desk, voice):
    voice.replies = ["Begin with a baseline.", "Try a forest."]
    reflect = {"things_to_reflect_on": "what next?"}
    assert await desk.act("Reflection", **reflect) == "Begin with a baseline."
    assert "(nothing yet)" in voice.asked[0]
    await note(desk, "a tree scored 0.7")
    assert await desk.act("Reflection", **reflect) == "Try a forest."
    asked = voice.asked[1]
    assert "````text\nPredict the price of ```houses```.\n````" in asked
    assert "a tree scored 0.7" in asked
    assert "what next?" in asked
    assert voice.roles == ["helper", "helper"]
