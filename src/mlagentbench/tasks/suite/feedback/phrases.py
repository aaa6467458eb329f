"""Faults of words: too plain, clumsily put together, wrongly inflected."""

from collections.abc import Iterator, Mapping

from .chance import Chance
from .tokens import Sentence, Text, is_plain, with_word, word
from .word_lists import (
    COLLOCATIONS,
    CONFUSED,
    DROPPABLE,
    FILLERS,
    PLAIN_WORDS,
    PLAINEST,
    WRONG_ENDINGS,
)

COMMON = 600
"""So many of the commonest words count as plain."""
UNRANKED = 10**9


def simplify(
    text: Text, weakness: float, chance: Chance, ranks: Mapping[str, int]
) -> Text:
    """Spoil vocabulary: put a few very common words in the place of rarer ones."""

    def said(token: str) -> str:
        rare = token.islower() and ranks.get(word(token), UNRANKED) > COMMON
        if not rare or not chance.happens(0.7 * weakness):
            return token
        return with_word(token, chance.pick(_plain_words_for(word(token))))

    return [[said(token) for token in sentence] for sentence in text]


def clutter(text: Text, weakness: float, chance: Chance) -> Text:
    """Spoil phraseology: fillers, repetitions, words that do not go together."""
    return [[*_cluttered(sentence, weakness, chance)] for sentence in text]


def misinflect(text: Text, weakness: float, chance: Chance) -> Text:
    """Spoil grammar: agreement, articles, prepositions, endings."""
    return [[*_misinflected(sentence, weakness, chance)] for sentence in text]


def _plain_words_for(rare: str) -> tuple[str, ...]:
    for ending, words in PLAIN_WORDS.items():
        if rare.endswith(ending):
            return words
    return PLAINEST


def _cluttered(sentence: Sentence, weakness: float, chance: Chance) -> Iterator[str]:
    for place, token in enumerate(sentence):
        others = COLLOCATIONS.get(word(token))
        odd = others is not None and chance.happens(0.7 * weakness)
        yield with_word(token, chance.pick(others)) if odd and others else token
        if place == len(sentence) - 1 or not is_plain(token):
            continue
        if chance.happens(0.07 * weakness):
            yield from chance.pick(FILLERS).split()
        if chance.happens(0.05 * weakness):
            heard = sentence[max(place - chance.pick((0, 0, 1, 2)), 0) : place + 1]
            yield from (again for again in heard if is_plain(again))


def _misinflected(sentence: Sentence, weakness: float, chance: Chance) -> Iterator[str]:
    for token in sentence:
        own = word(token)
        if own in CONFUSED and chance.happens(0.3 * weakness):
            yield with_word(token, chance.pick(CONFUSED[own]))
        elif own in DROPPABLE and token.islower() and chance.happens(0.3 * weakness):
            continue
        elif token.islower() and len(own) > 4 and chance.happens(0.3 * weakness):
            yield with_word(token, _wrong_ending(own, chance))
        else:
            yield token


def _wrong_ending(own: str, chance: Chance) -> str:
    for ending, others in WRONG_ENDINGS.items():
        if own.endswith(ending):
            return own.removesuffix(ending) + chance.pick(others)
    return own
