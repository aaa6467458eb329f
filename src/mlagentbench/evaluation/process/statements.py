"""Which numbers of a text are stated as results? A rule for each sentence.

A number is a result where a measure or a word of outcome leads to it ("accuracy of
0.87", "improved from 0.75 to 0.87") or follows it ("0.87 accuracy", "26 % better").
Sentences about wishes, rules, guesses, other people's results or the future state none;
neither do settings ("learning rate 0.1", "80 trees").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from mlagentbench.evaluation.process.numbers import Number, numbers_in

MOST_CHARACTERS = 8_000
_SENTENCE_CHARACTERS = 600
_BEFORE_CHARACTERS = 70
_AFTER_CHARACTERS = 60

_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\n;]+")
_CLAUSE = re.compile(
    r",\s+(?=(?:so|but|and|which|while|then|as|because|since|if|otherwise)\b)"
    r"|\s(?=so that\b)"
)
_MEASURE = (
    r"accurac(?:y|ies)|acc|mae|rmse|mse|mcrmse|rmsle|mape|loss(?:es)?|auc|roc|f1|scores?"
    r"|errors?|perplexity|r2|r\^2|precision|recall|iou|ndcg|dice|bleu|likelihood"
    r"|variance|correlation|relative[ _]time|speed-?up|runtime|baseline|results?"
)
_OUTCOME = (
    r"achiev\w{1,4}|reach(?:es|ed)|obtain\w{0,3}|got|gets|gives?|gave|yield\w{0,3}"
    r"|improv\w{1,6}|dropp?(?:s|ed)?|fell|falls|rose|rais\w{1,3}|increas\w{1,3}"
    r"|decreas\w{1,3}|reduc\w{1,4}|lower(?:s|ed)|scor(?:es|ed)|beats?|outperform\w{0,3}"
    r"|gain(?:s|ed)?|better|worse|lower|higher|faster|slower|went|down|up|takes|took"
    r"|explains"
)
_SETTING = (
    r"rates?|lr|trees|estimators|depth|epochs?|batch|dropout|layers?|units|neurons"
    r"|hidden|seeds?|folds?|alpha|lambda|gamma|beta|momentum|decay|leaf|leaves|rows"
    r"|columns|features|thresholds?|sizes?|window|stride|versions?|steps?|lines?|python"
    r"|top|trials?|runs?|samples|budget|lag|degree|rank|order|constants?|\w*_\w*"
)
_LINKS = re.compile(
    rf"\b(?:(?P<link>{_MEASURE}|{_OUTCOME})|(?P<setting>{_SETTING}))\b", re.IGNORECASE
)
_FOLLOWS = re.compile(
    r"\s*(?:(?:on|in|for|the|a|an|of|validation|val|test|training|train|mean|average"
    r"|overall|final|points?|dollars|absolute|relative)\s+){0,4}"
    rf"(?:{_MEASURE}|improvements?|reductions?|increases?|decreases?|better|worse|lower"
    r"|higher|faster|slower|gains?|drops?|less|more)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[\s-]{0,3}(?:[a-z-]{1,20}\s)?(?:trees|estimators|epochs?|layers|steps?|runs?"
    r"|trials|folds?|rows|features|columns|lines?|files?|samples|houses|passengers|texts|images"
    r"|classes|units|neurons|heads|iterations|models|experiments|seeds|minutes?|hours?"
    r"|constants|values|param\w{0,7}|characters|words|scripts?|sure|confiden\w{1,3}"
    r"|interval|CI)\b",
    re.IGNORECASE,
)
_JOINS = re.compile(
    r"\s*(?:dollars\s*)?(?:to|and|or|vs\.?|versus|against|from|down to|up to|->|→|,|\(|"
    r"/|\+-|\+/-|±)\s*(?:an?\s|the\s|about\s|only\s)?",
    re.IGNORECASE,
)
_NO_RESULT = re.compile(
    r"\b(?:will|would|should|could|might|may|can|expect\w{0,3}|hop(?:e|ing)|aim\w{0,3}"
    r"|targets?|goals?|plan(?:s|ned)? to|want|try|tries|let|next|needs?|needed|must"
    r"|if|unless|until|requir\w{1,3}|asks?|threshold|bar|budget|limit|guess\w{0,3}"
    r"|assum\w{1,6}|estimate[sd]?|hypothes\w{1,4}|unknown|unconfirmed|unverified"
    r"|not (?:yet )?(?:been )?(?:confirmed|measured|known|verified|seen|reported)"
    r"|typical\w{0,2}|usual\w{0,2}|literature|papers?|others|leaderboards?|state of the"
    r" art|known to|possibl[ey]|potential\w{0,2}|probabl[ey]|likely|perhaps|maybe"
    r"|predict\w{0,3}|at least|at most|stop|ideal\w{0,2}|in order to|to be confirmed)\b"
    r"|\?\s*$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"[\W\d]{0,12}(?:to\s+)?(?:reach|achieve|get|improve|reduce|increase|lower"
    r"|decrease"
    r"|beat|try|use|tune|set|test|train|add|change|write|run|execute|submit)\b[^:]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Result:
    """A number stated as a result, in the words around it."""

    number: Number
    clause: str
    other: Number | None = None
    """The other end, where it is one end of a range."""


def results_in(text: str) -> Iterator[Result]:
    """Return every number that a text states as a result."""
    for sentence in _SENTENCE.split(text[:MOST_CHARACTERS]):
        done = "done" in sentence.lower()
        for clause in _CLAUSE.split(sentence[:_SENTENCE_CHARACTERS]):
            ordered = not done and _ORDER.match(clause)
            if not ordered and not _NO_RESULT.search(clause):
                yield from _stated(clause)


def _stated(clause: str) -> Iterator[Result]:
    end, linked = 0, False
    numbers = list(numbers_in(clause))
    others = _other_ends(clause, numbers)
    for number in numbers:
        before = clause[max(end, number.start - _BEFORE_CHARACTERS) : number.start]
        after = clause[number.end : number.end + _AFTER_CHARACTERS]
        joined = linked and end > 0 and _JOINS.fullmatch(before.rstrip("$~≈+-") + " ")
        leads = bool(joined) or _leads(before)
        linked = (leads or bool(_FOLLOWS.match(after))) and not _is_setting(
            number, before, after
        )
        if linked and not _is_count(number):
            yield Result(number, clause, others.get(number.start))
        end = number.end


def _other_ends(clause: str, numbers: list[Number]) -> dict[int, Number]:
    """Return for both ends of every range the other end."""
    ends: dict[int, Number] = {}
    for one, other in pairwise(numbers):
        between = clause[one.end : other.start].strip(" $").lower()
        before = clause[max(0, one.start - 15) : one.start].lower()
        if (
            between in {"-", "\u2013"}
            or (between == "and" and "between" in before)
            or (between == "to" and not before.rstrip(" $").endswith("from"))
        ):
            ends |= {one.start: other, other.start: one}
    return ends


def _leads(before: str) -> bool:
    """Tell whether the last word that matters before a number speaks of an outcome."""
    words = [match.lastgroup for match in _LINKS.finditer(before)]
    return bool(words) and words[-1] == "link"


def _is_setting(number: Number, before: str, after: str) -> bool:
    words = [match.lastgroup for match in _LINKS.finditer(before)]
    named = bool(words) and words[-1] == "setting" and not _FOLLOWS.match(after)
    return named or (not number.unit and bool(_COUNTED.match(after)))


def _is_count(number: Number) -> bool:
    """Tell whether a number is too small and too whole to be a result by itself."""
    return number.is_whole and abs(number.value) < 100
