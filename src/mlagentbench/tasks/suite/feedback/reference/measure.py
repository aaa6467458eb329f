"""Measure what a text shows of each trait: a row of numbers a text.

Words and pairs of words are held against the training texts. A training text itself
was counted there, so its own share is taken off again before it is measured.
"""

import math
import re
from collections import Counter

import numpy as np

TOKEN = re.compile(r"[A-Za-z]+(?:[-'][A-Za-z]+)*|\d+|[^\w\s]")
COMMON = 400
LINKS = re.compile(
    r"(accordingly|again|also|although|and|because|besides|but|consequently|finally"
    r"|for|further|furthermore|hence|however|if|in|indeed|instead|likewise|meanwhile"
    r"|moreover|nevertheless|on|otherwise|since|so|still|then|therefore|though|thus"
    r"|unless|until|whereas|whether|while|yet)"
)
POINTERS = {"this", "these", "those", "such", "its", "their", "it", "they", "his"}
VOWELS = tuple("aeio")


class Measures:
    def __init__(self, texts):
        self.words, self.pairs, self.triples = Counter(), Counter(), Counter()
        self.letters = Counter()
        for text in texts:
            words = _words(text)
            self.words.update(words)
            self.pairs.update(_grams(words, 2))
            self.triples.update(_grams(words, 3))
            for word in words:
                self.letters.update(_letters(word))
        self.common = {word for word, _ in self.words.most_common(COMMON)}
        self.total = sum(self.words.values())

    def of(self, texts, *, counted=False):
        return np.array([self._row(text, counted) for text in texts])

    def _row(self, text, counted):
        tokens = TOKEN.findall(text)
        words = _words(text)
        return [
            *_surface(text, tokens, len(words)),
            *self._choice(words, counted),
            *self._order(words, counted),
            *_clumsiness(words),
            *_links(text),
        ]

    def _choice(self, words, counted):
        own = Counter(words) if counted else Counter()
        times = np.array([self.words[word] - own[word] for word in words])
        spelt = [self._spelling(word, counted) for word in words if len(word) > 3]
        lengths = np.array([len(word) for word in words])
        unknown = np.array([min(s) for s in spelt]) if spelt else np.zeros(1)
        return [
            (times == 0).mean(),
            (times <= 2).mean(),
            ((times > 2) & (times <= 30)).mean(),
            np.log1p(times).mean(),
            np.log1p(times[lengths > 4]).mean() if (lengths > 4).any() else 0,
            lengths.mean(),
            (lengths > 7).mean(),
            len(set(words)) / len(words),
            len({w for w in words if len(w) > 3}) / (1 + (lengths > 3).sum()),
            np.mean([word in self.common for word in words]),
            (unknown < 1).sum(),
            (unknown < 4).sum(),
            np.log1p(unknown).mean(),
        ]

    def _spelling(self, word, counted):
        return [self.letters[gram] - counted for gram in _letters(word)]

    def _order(self, words, counted):
        own = {n: Counter(_grams(words, n)) if counted else Counter() for n in (2, 3)}
        surprise, unseen = [], []
        for first, second in _grams(words, 2):
            seen = self.pairs[first, second] - own[2][first, second]
            expected = self.words[first] * self.words[second] / self.total
            unseen.append(seen == 0)
            if first in self.common or second in self.common:
                surprise.append(math.log((seen + 0.3) / (expected + 0.3)))
        triples = [self.triples[g] - own[3][g] > 0 for g in _grams(words, 3)]
        surprise = np.array(surprise or [0.0])
        return [
            np.mean(unseen),
            np.mean(triples),
            surprise.mean(),
            (surprise < -1).mean(),
            (surprise < -2).mean(),
        ]


def _words(text):
    return [t.lower() for t in TOKEN.findall(text) if t[0].isalpha()]


def _grams(words, size):
    return list(zip(*(words[start:] for start in range(size)), strict=False))


def _letters(word):
    edged = f"<{word}>"
    return [edged[i : i + 4] for i in range(len(edged) - 3)]


def _surface(text, tokens, length):
    sentences = _sentences(text)
    sizes = [len(sentence.split()) for sentence in sentences]
    inside = [t for t in text.split()[1:] if t[0].isalpha()]
    after_stop = re.findall(r"[.!?] +([A-Za-z])", text)
    return [
        length,
        len(sentences),
        np.mean(sizes),
        np.std(sizes),
        max(sizes),
        min(sizes),
        tokens.count(",") / length,
        sum(t in ";:" for t in tokens) / length,
        tokens.count(".") / length,
        text.count("'"),
        np.mean([t[0].isupper() for t in inside]),
        np.mean([letter.islower() for letter in after_stop] or [0]),
        text[0].islower(),
        text.rstrip()[-1] not in ".!?\"'",
        len(re.findall(r"[a-z] [A-Z][a-z]", text)) / length,
        len(re.findall(r"\b(united|state|congress|america|american|i)\b", text)),
    ]


def _clumsiness(words):
    pairs = _grams(words, 2)
    again = sum(words[i : i + 2] == words[i + 2 : i + 4] for i in range(len(words)))
    thrice = sum(words[i : i + 3] == words[i + 3 : i + 6] for i in range(len(words)))
    articles = [(a, b) for a, b in pairs if a in ("a", "an")]
    wrong = sum((a == "an") != b.startswith(VOWELS) for a, b in articles)
    doubled = Counter(words)
    return [
        sum(a == b for a, b in pairs),
        again,
        thrice,
        wrong,
        len(articles) / len(words),
        *(
            doubled[w] / len(words)
            for w in ("the", "of", "to", "and", "a", "is", "that", "thing", "way")
        ),
    ]


def _links(text):
    sentences = [_words(sentence) for sentence in _sentences(text)]
    sentences = [sentence for sentence in sentences if sentence]
    words = [word for sentence in sentences for word in sentence]
    sets = [{w for w in s if len(w) > 4} for s in sentences]
    shared = [len(a & b) / (1 + min(len(a), len(b))) for a, b in _grams(sets, 2)]
    return [
        sum(_is_link(s[0]) for s in sentences),
        np.mean([_is_link(s[0]) for s in sentences] or [0]),
        np.mean([_is_link(w) for w in words] or [0]),
        np.mean([w in POINTERS for w in words] or [0]),
        np.mean(shared or [0]),
    ]


def _is_link(word):
    return LINKS.fullmatch(word) is not None


def _sentences(text):
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if part]
