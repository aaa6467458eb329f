"""Understand File: ask a model what a file says, block by block."""

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.blocks import BLOCK_CHARACTERS, Block, split
from mlagentbench.environment.consulting import consult
from mlagentbench.environment.files import read_text
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.room import Room

MOST_BLOCKS = 20


async def _understand_file(room: Room, file_name: str, things_to_look_for: str) -> str:
    text = await read_text(room, file_name)
    blocks = split(text)
    if not blocks:
        return f"{file_name} is empty."
    if len(blocks) > MOST_BLOCKS:
        raise ActionError(
            f"{file_name} has {len(text)} characters, {len(blocks)} blocks of less than"
            f" {BLOCK_CHARACTERS}; at most {MOST_BLOCKS} blocks are read. Look at a"
            " part of it, or run a script that prints what you need."
        )
    sought = fenced(things_to_look_for)
    answers = [
        await consult(room, _about(block, number, len(blocks), file_name, sought))
        for number, block in enumerate(blocks, start=1)
    ]
    if len(answers) == 1:
        return answers[0]
    return await consult(room, _merging(blocks, answers, file_name, sought))


def _about(block: Block, number: int, count: int, name: str, sought: str) -> str:
    return prompt(
        "understand_block",
        name=fenced(name),
        place=_place(block, number, count),
        block=fenced(block.text),
        sought=sought,
    )


def _merging(blocks: list[Block], answers: list[str], name: str, sought: str) -> str:
    notes = (
        f"{_place(block, number, len(blocks))}\n{fenced(answer)}"
        for number, (block, answer) in enumerate(
            zip(blocks, answers, strict=True), start=1
        )
    )
    return prompt(
        "understand_merge", name=fenced(name), notes="\n\n".join(notes), sought=sought
    )


def _place(block: Block, number: int, count: int) -> str:
    return (
        f"Block {number} of {count}: lines {block.first_line} to {block.last_line},"
        f" characters {block.first_character} to {block.last_character}"
    )


UNDERSTAND_FILE = Action(
    name="Understand File",
    summary="Have a helper read a file and say what it holds about what you look for.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "things_to_look_for": "what to look for in it, in detail",
    },
    do=_understand_file,
)
