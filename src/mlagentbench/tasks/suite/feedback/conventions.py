"""Faults of spelling, capitals and punctuation."""

from collections.abc import Callable

from .chance import Chance
from .tokens import Sentence, Text, capitalised, uncapitalised, with_word, word

SOUNDS_ALIKE = (
    ("tion", "shun"),
    ("ie", "ei"),
    ("ei", "ie"),
    ("ough", "uff"),
    ("ph", "f"),
    ("ence", "ance"),
    ("ance", "ence"),
    ("able", "ible"),
    ("ck", "k"),
    ("ea", "ee"),
    ("wh", "w"),
    ("our", "or"),
    ("kn", "n"),
)
SHORTEST_MISSPELT = 4


def misspell_and_mispunctuate(text: Text, weakness: float, chance: Chance) -> Text:
    """Spoil conventions: spelling, capitals, commas, apostrophes, full stops."""
    return [
        _careless([_written(t, weakness, chance) for t in sentence], weakness, chance)
        for sentence in text
    ]


def _written(token: str, weakness: float, chance: Chance) -> str:
    own = word(token)
    if len(own) >= SHORTEST_MISSPELT and own.isalpha():
        if chance.happens(0.16 * weakness):
            token = with_word(token, chance.pick(MISSPELLINGS)(own, chance))
        if chance.happens(0.03 * weakness):
            token = capitalised(token)
    if token.endswith((",", ";", ":")) and chance.happens(0.6 * weakness):
        token = token[:-1]
    elif token.isalpha() and chance.happens(0.03 * weakness):
        token = f"{token},"
    if "'" in token and chance.happens(0.7 * weakness):
        token = token.replace("'", "")
    return token


def _careless(sentence: Sentence, weakness: float, chance: Chance) -> Sentence:
    if not sentence:
        return sentence
    names = [
        uncapitalised(token) if chance.happens(0.4 * weakness) else token
        for token in sentence
    ]
    if chance.happens(0.4 * weakness):
        names[-1] = names[-1].rstrip(".!?")
    return names


def _by_sound(own: str, chance: Chance) -> str:
    fitting = [pair for pair in SOUNDS_ALIKE if pair[0] in own]
    return own.replace(*chance.pick(fitting), 1) if fitting else _doubled(own, chance)


def _doubled(own: str, chance: Chance) -> str:
    place = _inside(own, chance)
    return own[:place] + own[place] + own[place:]


def _dropped(own: str, chance: Chance) -> str:
    place = _inside(own, chance)
    return own[:place] + own[place + 1 :]


def _swapped(own: str, chance: Chance) -> str:
    place = _inside(own, chance)
    return own[:place] + own[place + 1] + own[place] + own[place + 2 :]


def _vowel_changed(own: str, chance: Chance) -> str:
    vowels = [place for place, letter in enumerate(own) if letter in "aeiou"]
    if not vowels:
        return _dropped(own, chance)
    place = chance.pick(vowels)
    return own[:place] + chance.pick("aeiou") + own[place + 1 :]


def _inside(own: str, chance: Chance) -> int:
    return chance.pick(range(1, len(own) - 1))


MISSPELLINGS: tuple[Callable[[str, Chance], str], ...] = (
    _by_sound,
    _doubled,
    _dropped,
    _swapped,
    _vowel_changed,
)
