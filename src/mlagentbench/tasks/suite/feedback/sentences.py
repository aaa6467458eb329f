"""Faults of whole sentences: what holds them together, and how they are built."""

from .chance import Chance
from .tokens import (
    Sentence,
    Text,
    capitalised,
    is_plain,
    uncapitalised,
    with_word,
    without_end,
    word,
)
from .word_lists import CONNECTIVES, POINTERS, SKELETON

MISLEADING = (
    "However,",
    "Therefore,",
    "But",
    "Also",
    "And",
    "So",
    "For example,",
    "Then",
    "In addition,",
    "Because of this,",
    "On the other hand,",
)
JOINTS = ("", ",", ",", " and", " so", ", and")


def loosen(text: Text, weakness: float, chance: Chance) -> Text:
    """Spoil cohesion: sentences trade places, links go missing or mislead."""
    text = [_unlinked(sentence, weakness, chance) for sentence in text]
    for place in range(len(text) - 1):
        if chance.happens(0.8 * weakness):
            text[place], text[place + 1] = text[place + 1], text[place]
    return [
        _misled(sentence, chance) if chance.happens(0.8 * weakness) else sentence
        for sentence in text
    ]


def break_syntax(text: Text, weakness: float, chance: Chance) -> Text:
    """Spoil syntax: words missing or out of order, fragments, run-on sentences."""
    text = [_scrambled(sentence, weakness, chance) for sentence in text]
    text = [part for whole in text for part in _fragments(whole, weakness, chance)]
    joined = text[:1]
    for sentence in text[1:]:
        if sentence and joined[-1] and chance.happens(0.6 * weakness):
            joined[-1] = _run_on(joined[-1], sentence, chance)
        else:
            joined.append(sentence)
    return joined


def _unlinked(sentence: Sentence, weakness: float, chance: Chance) -> Sentence:
    kept = []
    for token in sentence:
        if word(token) in CONNECTIVES and chance.happens(0.9 * weakness):
            continue
        pointing = word(token) in POINTERS and chance.happens(0.8 * weakness)
        kept.append(with_word(token, "the") if pointing else token)
    return [capitalised(kept[0]), *kept[1:]] if kept else kept


def _misled(sentence: Sentence, chance: Chance) -> Sentence:
    rest = [uncapitalised(sentence[0]), *sentence[1:]] if sentence else []
    return [*chance.pick(MISLEADING).split(), *rest]


def _scrambled(sentence: Sentence, weakness: float, chance: Chance) -> Sentence:
    kept = [
        token
        for token in sentence
        if word(token) not in SKELETON or not chance.happens(0.3 * weakness)
    ]
    for place in range(len(kept) - 1):
        pair = kept[place : place + 2]
        if all(map(is_plain, pair)) and chance.happens(0.14 * weakness):
            kept[place : place + 2] = reversed(pair)
    return [capitalised(kept[0]), *kept[1:]] if kept else kept


def _fragments(sentence: Sentence, weakness: float, chance: Chance) -> Text:
    parts: Text = [[]]
    for place, token in enumerate(sentence):
        parts[-1].append(token)
        at_a_comma = token.endswith(",") and place < len(sentence) - 2
        if at_a_comma and chance.happens(0.4 * weakness):
            parts[-1][-1] = f"{without_end(token)}."
            parts.append([])
    return [[capitalised(part[0]), *part[1:]] for part in parts if part]


def _run_on(first: Sentence, second: Sentence, chance: Chance) -> Sentence:
    joint = f"{without_end(first[-1])}{chance.pick(JOINTS)}".split()
    return [*first[:-1], *joint, uncapitalised(second[0]), *second[1:]]
