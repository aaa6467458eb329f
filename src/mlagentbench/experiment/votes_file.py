"""`opinions.jsonl`: the votes of LLM judges, one line each, as they came."""

from collections import Counter
from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from mlagentbench.core import ModelCall, Record, append_line
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.record_files import read_record
from mlagentbench.experiment.scorecard_file import last_attempts

_FILE = "opinions.jsonl"


class Vote(Record):
    """One vote, as the judge wrote it."""

    kind: Literal["vote"] = "vote"
    run: str
    attempt: int
    judge: str
    """The name of the model."""
    number: int
    """From 0; a later vote of the same number replaces it."""
    call: ModelCall


class Refusal(Record):
    """The reason why a judge gave no opinion on a run."""

    kind: Literal["refusal"] = "refusal"
    run: str
    attempt: int
    judge: str
    why: str


Entry = Vote | Refusal
_LINE: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


class VotesFile:
    """The votes on the runs of one experiment, and reasons why some are missing."""

    def __init__(self, experiment: Experiment) -> None:
        self._path = experiment.folder / _FILE
        raw = (read_record(experiment.folder, _FILE) or b"").splitlines()
        self.entries: list[Entry] = []
        for line in raw:
            # The vote of a damaged line is asked for again.
            with suppress(ValidationError):
                self.entries.append(_LINE.validate_json(line))

    def add(self, entry: Entry) -> None:
        """Append one entry; it is on its way to disk on return."""
        append_line(self._path, entry.model_dump_json())
        self.entries.append(entry)

    def votes(self, run: str, attempt: int, judge: str) -> dict[int, Vote]:
        """Return a judge's votes on a run by number; of each number the last."""
        return {
            one.number: one
            for one in self.entries
            if isinstance(one, Vote)
            and (one.run, one.attempt, one.judge) == (run, attempt, judge)
        }


def missing_opinions(experiment: Experiment) -> list[str]:
    """Return a sentence for every reason why judges gave no opinion on some runs."""
    last = {entry.run: entry for entry in VotesFile(experiment).entries}
    if not last:
        return []
    card_of = {card.run: card for card in last_attempts(experiment.scorecards)}
    counted: Counter[tuple[str, str, str]] = Counter()
    for entry in last.values():
        if isinstance(entry, Refusal) and entry.run in card_of:
            opinion = card_of[entry.run].opinion
            rated_before = opinion is not None and opinion.model == entry.judge
            what = "no more votes" if rated_before else "no opinion"
            counted[entry.judge, what, entry.why] += 1
    return [
        f"the judge {judge} gave {what} on {count} run{'s' * (count > 1)}: {why}"
        for (judge, what, why), count in counted.items()
    ]
