"""Numbers stated as results that nothing seen before bears out: hallucinations."""

import re
from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import FINAL, LOG, given, is_note
from mlagentbench.evaluation.process.evidence import Evidence
from mlagentbench.evaluation.process.statements import Result, results_in
from mlagentbench.evaluation.process.story import Story, found

_SAID_IN = {
    LOG: "content",
    FINAL: "final_answer",
    "Reflection": "things_to_reflect_on",
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


def unsupported_claims(story: Story) -> Iterator[Finding]:
    """Find results that were stated before anything like them was seen."""
    evidence = Evidence(story.steps)
    told: set[tuple[float, str]] = set()
    for step in story.steps:
        for result in (one for text in _texts(step) for one in results_in(text)):
            key = (abs(result.number.value), result.number.unit)
            if key not in told and not _is_borne_out(result, step, evidence):
                told.add(key)
                stated = result.clause[result.number.start : result.number.end]
                why = f"Nothing seen before step {step.step} shows {stated.strip()}."
                yield found(result.clause, why, step)


def _texts(step: Step) -> Iterator[str]:
    yield from step.fields.values()
    if step.action in _SAID_IN:
        yield given(step, _SAID_IN[step.action])
    elif step.action in {"Write File", "Append File"} and is_note(step):
        yield given(step, "content")


def _is_borne_out(result: Result, step: Step, evidence: Evidence) -> bool:
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
