"""A judge's reply is a vote or it is unreadable; nothing in between is guessed."""

from pydantic import ValidationError

from mlagentbench.agents.languages.cleaning import clean_text
from mlagentbench.agents.languages.objects import object_at
from mlagentbench.agents.languages.strict import ReadingError
from mlagentbench.environment.shorten import shortened
from mlagentbench.evaluation.opinions import Judged, Vote

_LONGEST_REPLY = 20_000
_LONGEST_REASON = 300


def read_vote(reply: str) -> Vote | None:
    """Read the one JSON object of a reply; None where it is not exactly a vote.

    Words around it are passed over. A second object is not: one of the two may be
    quoted from the run, and nobody can tell which was meant.
    """
    text = clean_text(reply[: _LONGEST_REPLY + 1])
    start = text.find("{")
    if start < 0 or len(reply) > _LONGEST_REPLY:
        return None
    try:
        found = object_at(text, start)
        vote = Vote.model_validate({"judged": found.value})
        return None if "{" in text[found.end :] else _plain(vote)
    except (ReadingError, ValidationError):
        return None


def _plain(vote: Vote) -> Vote:
    """Return the vote with reasons that can be shown anywhere."""
    judged = {
        name: Judged(
            mark=one.mark, reason=shortened(clean_text(one.reason), _LONGEST_REASON)
        )
        for name, one in vote.judged.items()
    }
    return Vote(judged=judged)
