"""Asking a judge: some runs at a time, vote after vote, whatever its provider does."""

import asyncio
import logging
from collections.abc import Sequence

from inspect_ai.model import Model, get_model

from mlagentbench.core.errors import ProviderError, blame
from mlagentbench.core.progress import Progress
from mlagentbench.run.asking import Question, answered
from mlagentbench.run.opinions.ballots import Ballot, BallotBox, Refusal
from mlagentbench.run.opinions.questions import Case, ask_for_vote
from mlagentbench.run.plan import Judge, Patience

_RUNS_AT_A_TIME = 4
_GIVE_UP_AFTER = 3
"""Runs in a row on which a provider failed; the rest need not wait for it too."""
_LONGEST_REASON = 300


class Hearing:
    """One judge, and what it says about the runs of one experiment."""

    def __init__(self, judge: Judge, patience: Patience, box: BallotBox) -> None:
        self.judge = judge
        self._patience = patience
        self._box = box
        self._failed_in_a_row = 0

    def question(self, case: Case, number: int) -> Question:
        """Return what the judge is asked about a run for one of its votes."""
        return ask_for_vote(case, number, self.judge.model, self._patience)

    def votes(self, case: Case) -> dict[int, Ballot]:
        """Return the votes on a run that answer what would be asked now."""
        found = self._box.ballots(case.run, case.attempt, self.judge.model)
        return {
            number: ballot
            for number, ballot in found.items()
            if ballot.call.request_sha == self.question(case, number).sha
        }

    def unasked(self, case: Case) -> list[int]:
        """Return the numbers of the votes that are still to be asked for."""
        return sorted(set(range(self.judge.votes)) - set(self.votes(case)))

    def ask(self, wanted: Sequence[tuple[Case, list[int]]], progress: Progress) -> None:
        """Ask for votes; where that fails, note why and go on."""
        logging.getLogger("inspect_ai").setLevel(logging.ERROR)
        try:
            asyncio.run(self._ask_all(wanted, progress))
        except ProviderError as error:
            for case, _ in wanted:
                self._refuse(case, error)

    def refuse(self, run: str, attempt: int, why: str) -> None:
        """Note why there is no opinion on a run, in one short line."""
        short = " ".join(why.split())[:_LONGEST_REASON]
        self._box.add(
            Refusal(run=run, attempt=attempt, judge=self.judge.model, why=short)
        )

    async def _ask_all(
        self, wanted: Sequence[tuple[Case, list[int]]], progress: Progress
    ) -> None:
        turns = asyncio.Semaphore(_RUNS_AT_A_TIME)
        with blame(ProviderError, self.judge.model):
            # One of our own: the runs' models belong to an event loop that is gone.
            async with get_model(self.judge.model, memoize=False) as model:
                await asyncio.gather(
                    *(
                        self._ask_about(model, case, numbers, turns, progress)
                        for case, numbers in wanted
                    )
                )

    async def _ask_about(
        self,
        model: Model,
        case: Case,
        numbers: list[int],
        turns: asyncio.Semaphore,
        progress: Progress,
    ) -> None:
        async with turns:
            if self._failed_in_a_row >= _GIVE_UP_AFTER:
                why = "not asked any more, after its provider failed again and again"
                self.refuse(case.run, case.attempt, why)
                return
            try:
                for number in numbers:
                    await self._vote(model, case, number)
                    progress.advance(1)
            except ProviderError as error:
                self._failed_in_a_row += 1
                self._refuse(case, error)

    async def _vote(self, model: Model, case: Case, number: int) -> None:
        call = await answered(model, self.question(case, number))
        self._failed_in_a_row = 0
        self._box.add(
            Ballot(
                run=case.run,
                attempt=case.attempt,
                judge=self.judge.model,
                number=number,
                call=call,
            )
        )

    def _refuse(self, case: Case, error: ProviderError) -> None:
        self.refuse(case.run, case.attempt, str(error))
