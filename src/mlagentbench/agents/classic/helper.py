"""What the paper's research agent has a helper do: sum up what it saw and did."""

from inspect_ai.model import ChatMessageUser, GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.prompting import prompt
from mlagentbench.environment.blocks import Block, split
from mlagentbench.environment.prompts import fenced, sendable
from mlagentbench.environment.shorten import shortened

LONGEST_OBSERVATION = 5_000
"""In characters; what is longer is summed up."""

_CONFIG = GenerateConfig(temperature=0.01, max_tokens=2_000)


async def short_enough(context: Context, action: str, observation: str) -> str:
    """Return an observation, summed up where it is too long."""
    if len(observation) <= LONGEST_OBSERVATION:
        return observation
    blocks = split(observation)
    about = fenced(action)
    summaries = [
        await _asked(context, _about_block(block, len(observation), about))
        for block in blocks
    ]
    summary = summaries[0]
    if len(summaries) > 1:
        parts = "\n\n".join(map(fenced, summaries))
        merge = prompt("classic_observation_merge", action=about, parts=parts)
        summary = await _asked(context, sendable(merge))
    return summary or shortened(observation, LONGEST_OBSERVATION)


async def log_entry(context: Context, action: str, observation: str) -> str:
    """Return what the research log should say about a step."""
    question = prompt(
        "classic_entry", action=fenced(action), observation=fenced(observation)
    )
    return await _asked(context, sendable(question)) or "There is no summary."


def _about_block(block: Block, length: int, about: str) -> str:
    place = f"characters {block.first_character} to {block.last_character} of {length}"
    return sendable(
        prompt(
            "classic_observation", action=about, place=place, block=fenced(block.text)
        )
    )


async def _asked(context: Context, question: str) -> str:
    messages = [ChatMessageUser(content=question)]
    return spoken(await context.ask(messages, role="helper", config=_CONFIG))
