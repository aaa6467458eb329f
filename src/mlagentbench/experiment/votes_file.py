"""Votes as they came, in the experiment's `opinions.jsonl`: a line each."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from mlagentbench.core.disk import append_line
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.trace import ModelCall
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import last_attempts

_FILE = "opinions.jsonl"


class Vote(Record):
    """One vote, as the judge wrote it."""

    kind: Literal["vote"] = "vote"
    run: str
    attempt: int
    judge: str
    """The model, by the name it was asked for."""
    number: int
    """Which of the votes, from 0; a later one of the same number replaces it."""
    call: ModelCall


class Refusal(Record):
    """Why there is no opinion of a judge on a run."""

    kind: Literal["refusal"] = "refusal"
    run: str
    attempt: int
    judge: str
    why: str


Entry = Vote | Refusal
_LINE: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


class VotesFile:
    """What judges said about the runs of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._path = experiment.folder / _FILE
        raw = self._path.read_bytes().splitlines() if self._path.exists() else []
        self.entries = [entry for entry in map(_entry, raw) if entry is not None]

    def add(self, entry: Entry) -> None:
        """Keep one more; it is on its way to disk on return."""
        append_line(self._path, entry.model_dump_json())
        self.entries.append(entry)

    def ballots(self, run: str, attempt: int, judge: str) -> dict[int, Vote]:
        """Return a judge's votes on a run by their number, of each the last."""
        return {
            one.number: one
            for one in self.entries
            if isinstance(one, Vote)
            and (one.run, one.attempt, one.judge) == (run, attempt, judge)
        }


def missing_opinions(experiment: Experiment) -> list[str]:
    """Say which judges could not be heard on which runs, and why; a line a reason."""
    cards = experiment.scorecards
    card_of = {card.run: card for card in last_attempts(cards)}
    last = {entry.run: entry for entry in VotesFile(experiment).entries}
    counted = Counter(
        (entry.judge, _what_is_missing(entry, card_of[entry.run]), entry.why)
        for entry in last.values()
        if isinstance(entry, Refusal) and entry.run in card_of
    )
    return [
        f"the judge {judge} gave {what} on {_runs(count)}: {why}"
        for (judge, what, why), count in counted.items()
    ]


def _entry(raw: bytes) -> Entry | None:
    """Read one line; what a damaged one held can be asked for again."""
    try:
        return _LINE.validate_json(raw)
    except ValidationError:
        return None


def _what_is_missing(entry: Refusal, card: Scorecard) -> str:
    heard_before = card.opinion is not None and card.opinion.model == entry.judge
    return "no more votes" if heard_before else "no opinion"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
