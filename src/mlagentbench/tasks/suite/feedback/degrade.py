"""Make good prose worse, trait by trait.

Each trait has its own faults, its own weakness and its own chance: what happens to the
grammar of a text says nothing about its vocabulary. Spelling comes last, because
everything else must still find its words.
"""

from collections.abc import Callable, Mapping
from functools import partial

from .chance import Chance
from .conventions import misspell_and_mispunctuate
from .phrases import clutter, misinflect, simplify
from .sentences import break_syntax, loosen
from .tokens import Text
from .writers import weakness

Fault = Callable[[Text, float, Chance], Text]


def degrade(
    text: Text, qualities: Mapping[str, float], ranks: Mapping[str, int], salt: str
) -> str:
    """Write a passage as someone of these qualities would have.

    `ranks` orders the words of the language by how common they are.
    """
    faults: dict[str, Fault] = {
        "vocabulary": partial(simplify, ranks=ranks),
        "cohesion": loosen,
        "phraseology": clutter,
        "grammar": misinflect,
        "syntax": break_syntax,
        "conventions": misspell_and_mispunctuate,
    }
    for trait, commit in faults.items():
        chance = Chance(f"{salt} {trait}")
        text = commit(text, weakness(qualities[trait], chance), chance)
    return " ".join(token for sentence in text for token in sentence)
