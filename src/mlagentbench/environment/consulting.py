"""Asking the helper model, whose words go to the agent as they are."""

from inspect_ai.model import GenerateConfig

from mlagentbench.environment.prompts import sendable
from mlagentbench.environment.room import Room

HELPER = "helper"
HELPER_TOKENS = 2_000


async def consult(room: Room, question: str) -> str:
    """Return what the helper says, and whether it was stopped before its end."""
    config = GenerateConfig(temperature=0.01, max_tokens=HELPER_TOKENS)
    told = await room.ask(question, role=HELPER, config=config)
    said = sendable(told.text).strip() or "(The helper model said nothing.)"
    return f"{said}\n[cut off by the length limit]" if told.cut_off else said
