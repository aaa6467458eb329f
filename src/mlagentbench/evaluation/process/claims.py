"""Unsupported claims: statements against evidence.

A number is a result where a measure or a word of outcome leads to it ("accuracy of
0.87", "improved from 0.75 to 0.87") or follows it ("0.87 accuracy", "26 % better").
Sentences about wishes, rules, guesses, other people's results or the future state none;
neither do settings ("learning rate 0.1", "80 trees").
"""

import bisect
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mlagentbench.core import (
    APPEND_FILE,
    APPEND_SUMMARY,
    CODE,
    FINAL_ANSWER,
    REFLECTION,
    RETRIEVAL,
    WRITE_FILE,
    Finding,
    Step,
    given,
    is_note,
)
from mlagentbench.evaluation.process.run_view import RunView, found

_STATEMENTS = {
    APPEND_SUMMARY.name: "content",
    FINAL_ANSWER.name: "final_answer",
    REFLECTION.name: "things_to_reflect_on",
}
_ABOUT = re.compile(
    r"(?:~|≈|\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|over|under"
    r"|below|above|near|close to|more than|less than|some))\s*(?:an?\s|the\s)?\$?$",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:improv|reduc|increas|decreas|drop|fell|rose|rais|lower|higher|better|worse|less"
    r"|more|faster|slower|gain|differ|gap|beat|outperform|speed|down|up|than|percent)",
    re.IGNORECASE,
)


def unsupported_claims(view: RunView) -> Iterator[Finding]:
    """Find stated results that no earlier observation supports."""
    evidence = Evidence(view.steps)
    seen: set[tuple[float, str]] = set()
    for step in view.steps:
        for result in (one for text in _texts(step) for one in results_in(text)):
            key = (abs(result.number.value), result.number.unit)
            if key not in seen and not _is_supported(result, step, evidence):
                seen.add(key)
                stated = result.clause[result.number.start : result.number.end]
                why = f"Nothing seen before step {step.step} shows {stated.strip()}."
                yield found(result.clause, why, step)


def _texts(step: Step) -> Iterator[str]:
    yield from step.fields.values()
    if step.action in _STATEMENTS:
        yield given(step, _STATEMENTS[step.action])
    elif step.action in {WRITE_FILE.name, APPEND_FILE.name} and is_note(step):
        yield given(step, "content")


@dataclass(frozen=True)
class Number:
    """A number as it was written."""

    value: float
    place: float
    """The value of its last digit: 0.01 for 0.87, 1000 for 29k and for 29,000."""
    unit: str
    """`%`, `x` (times as much) or nothing."""
    start: int
    end: int
    is_whole: bool
    """Whether it was written without a decimal point, a power or a unit."""


class Evidence:
    """The numbers of one run, with the step at which each was first seen."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps

    @cached_property
    def _seen(self) -> tuple[list[float], list[int]]:
        shown = (one for one in self._steps if one.action not in _WRITTEN_BY_A_MODEL)
        first = _first_steps((one.step, one.told) for one in shown)
        for step, value in self._measured:
            first[abs(value)] = min(step, first.get(abs(value), step))
        ordered = sorted(first)
        return ordered, [first[value] for value in ordered]

    @cached_property
    def _own(self) -> dict[float, int]:
        code = (one for one in self._steps if not is_note(one))
        return _first_steps((one.step, given(one, key)) for one in code for key in CODE)

    @cached_property
    def _measured(self) -> list[tuple[int, float]]:
        scored = ((one.step, one.validation) for one in self._steps)
        return [
            (step, score.value)
            for step, score in scored
            if score is not None and math.isfinite(score.value)
        ]

    def supports(self, number: Number, step: int, *, about: bool, change: bool) -> bool:
        """Tell whether this number was seen before a step, or chosen by then."""
        if self._own.get(abs(number.value), step + 1) <= step:
            return True
        ranges = list(_ranges(number, about=about))
        if any(self._has(low, high, step) for low, high in ranges):
            return True
        # A change is also supported as a difference of scores measured before.
        measured = [value for at, value in self._measured if at < step and change]
        return any(
            low <= value <= high
            for value in _differences(measured)
            for low, high in ranges
        )

    def within(self, low: float, high: float, step: int) -> bool:
        """Tell whether something seen before a step lies between two numbers."""
        return self._has(low, high, step) or self._has(low / 100, high / 100, step)

    def _has(self, low: float, high: float, step: int) -> bool:
        values, first = self._seen
        start, end = bisect.bisect_left(values, low), bisect.bisect_right(values, high)
        return any(first[index] < step for index in range(start, end))


@dataclass(frozen=True)
class Result:
    """A number stated as a result, in the words around it."""

    number: Number
    clause: str
    other: Number | None = None
    """The other end, if it is one end of a range."""


def _is_supported(result: Result, step: Step, evidence: Evidence) -> bool:
    number, clause = result.number, result.clause
    before = clause[max(0, number.start - 40) : number.start]
    about = bool(_ABOUT.search(before.rstrip("+-")))
    change = number.unit != "" or bool(_CHANGE.search(clause))
    if evidence.supports(number, step.step, about=about, change=change):
        return True
    if result.other is None:
        return False
    low, high = sorted((abs(number.value), abs(result.other.value)))
    return evidence.within(low, high, step.step)


_WRITTEN_BY_A_MODEL = frozenset({REFLECTION.name, RETRIEVAL.name})
"""Their observations are no evidence: a model wrote them."""
_ABOUT_SHARE = 0.05
_TRAILING_ZEROS = 0.01
"""`29,000` stands for 29,265.6, and not for 25,100."""


def _first_steps(texts: Iterable[tuple[int, str]]) -> dict[float, int]:
    """Return each number of the texts with the step at which it first appeared."""
    first: dict[str, int] = {}
    for step, text in texts:
        for written in _PRINTED.findall(text):
            first.setdefault(written, step)
    values: dict[float, int] = {}
    for written, step in first.items():
        values.setdefault(abs(float(written.replace(",", ""))), step)
    return values


def _ranges(number: Number, *, about: bool) -> Iterator[tuple[float, float]]:
    """Return the ranges of values that round or truncate to a written number."""
    value, place = abs(number.value), number.place
    below, above = 0.5 * place, place
    if place > 1:
        below = above = min(0.5 * place, _TRAILING_ZEROS * value)
    if about:
        below = above = max(0.5 * place, _ABOUT_SHARE * value)
    low, high = value - below * 1.000001, value + above * 1.000001
    yield low, high
    if number.unit == "%":
        yield low / 100, high / 100
    elif value <= 1:
        yield low * 100, high * 100


def _differences(measured: list[float]) -> Iterator[float]:
    """Return differences to the first, the best and the score before, in every form."""
    if not measured:
        return
    ends = (measured[0], min(measured), max(measured))
    pairs: Iterable[tuple[float, float]] = (
        *((one, other) for one in ends for other in measured),
        *pairwise(measured),
    )
    for before, after in pairs:
        yield abs(before - after)
        yield from _ratios(before, after)
    for value in measured:
        yield abs(1 - value)
        yield from _ratios(value, 1.0)


def _ratios(before: float, after: float) -> Iterator[float]:
    for over, under in ((after, before), (before, after)):
        ratio = over / under if under else math.nan
        yield abs(ratio)
        yield abs(1 - ratio)


_NUMBER = re.compile(
    r"(?<![\w.,/#])(?P<sign>[+-]?)\$?"
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,20})?"
    r"|[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})"
    r"(?P<power>[eE][+-]?[0-9]{1,3})?"
    r"(?P<unit>[ \t]?(?:%|percent\b|times\b)|[kKx](?![\w]))?"
    r"(?!\.?[\w])"
)
_PRINTED = re.compile(
    r"(?<![\w.])[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}(?![0-9])|[0-9]{1,30})(?:\.[0-9]{0,30})?"
    r"(?:[eE][+-]?[0-9]{1,3})?"
)


def numbers_in(text: str) -> Iterator[Number]:
    """Return the numbers of a text that are not parts of names or versions."""
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace(",", "")
        value = float(digits + (match["power"] or ""))
        unit = (match["unit"] or "").strip().lower()
        scale = 1000.0 if unit == "k" else 1.0
        if not math.isfinite(value):
            continue
        yield Number(
            value=-value * scale if match["sign"] == "-" else value * scale,
            place=_place(digits) * scale * 10.0 ** int((match["power"] or "e0")[1:]),
            unit={"percent": "%", "%": "%", "x": "x", "times": "x"}.get(unit, ""),
            start=match.start("digits"),
            end=match.end(),
            is_whole="." not in digits and not match["power"] and not unit,
        )


def _place(digits: str) -> float:
    whole, _, decimals = digits.partition(".")
    if decimals:
        return float(10.0 ** -len(decimals))
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(10.0**zeros) if 2 <= zeros < len(whole) else 1.0


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
        follows = _FOLLOWS.match(after) is not None
        # The last relevant word before a number names an outcome or a setting.
        word = ([None] + [match.lastgroup for match in _LINKS.finditer(before)])[-1]
        counted = not number.unit and _COUNTED.match(after)
        linked = bool(joined or word == "link" or follows) and not counted
        linked = linked and (word != "setting" or follows)
        # A small whole number is a count, not a result.
        if linked and not (number.is_whole and abs(number.value) < 100):
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
