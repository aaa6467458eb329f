"""Ask a judging model about an experiment, keep its votes."""

import asyncio
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout

from inspect_ai.model import Model, get_model

from mlagentbench.core.errors import ProviderError, RecordError, blame
from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.text import shortened
from mlagentbench.evaluation.cost import Price, call_cost
from mlagentbench.evaluation.llm_judge import opinion_of
from mlagentbench.experiment.experiment import Experiment, same_task
from mlagentbench.experiment.plan import Judge, RetryLimits
from mlagentbench.experiment.scorecard_file import last_attempts
from mlagentbench.experiment.votes_file import Refusal, Vote, VotesFile
from mlagentbench.run.llm_judge.prompt import (
    JudgeQuestion,
    ask_for_vote,
    read_vote,
    said_in,
    transcript,
)
from mlagentbench.run.model_calls import ModelRequest, call_model
from mlagentbench.tasks.load import problem

_RUNS_AT_A_TIME = 4
_GIVE_UP_AFTER = 3
"""Runs in a row on which a provider failed; the rest need not wait for it too."""
_LONGEST_REASON = 300


class JudgeSession:
    """One judge, and what it says about the runs of one experiment."""

    def __init__(self, judge: Judge, patience: RetryLimits, box: VotesFile) -> None:
        self.judge = judge
        self._patience = patience
        self._box = box
        self._failed_in_a_row = 0

    def question(self, case: JudgeQuestion, number: int) -> ModelRequest:
        """Return what the judge is asked about a run for one of its votes."""
        return ask_for_vote(case, number, self.judge.model, self._patience)

    def votes(self, case: JudgeQuestion) -> dict[int, Vote]:
        """Return the votes on a run that answer what would be asked now."""
        found = self._box.ballots(case.run, case.attempt, self.judge.model)
        return {
            number: ballot
            for number, ballot in found.items()
            if ballot.call.request_sha == self.question(case, number).sha
        }

    def unasked(self, case: JudgeQuestion) -> list[int]:
        """Return the numbers of the votes that are still to be asked for."""
        return sorted(set(range(self.judge.votes)) - set(self.votes(case)))

    def ask(
        self, wanted: Sequence[tuple[JudgeQuestion, list[int]]], progress: Progress
    ) -> None:
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
        self, wanted: Sequence[tuple[JudgeQuestion, list[int]]], progress: Progress
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
        case: JudgeQuestion,
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

    async def _vote(self, model: Model, case: JudgeQuestion, number: int) -> None:
        call = await call_model(model, self.question(case, number))
        self._failed_in_a_row = 0
        self._box.add(
            Vote(
                run=case.run,
                attempt=case.attempt,
                judge=self.judge.model,
                number=number,
                call=call,
            )
        )

    def _refuse(self, case: JudgeQuestion, error: ProviderError) -> None:
        self.refuse(case.run, case.attempt, str(error))


_ROOM = {"local": 12_000}
"""Characters of a run that a provider's models can hold."""
_USUAL_ROOM = 60_000


def ask_judge(
    experiment: Experiment,
    judge: Judge,
    progress: Progress,
    *,
    again: bool = False,
    prices: Mapping[str, Price] | None = None,
) -> None:
    """Ask a judge about every run that counts, and put its opinions on the cards.

    Votes that were given before are not asked for again unless `again` says so. Where
    the judge cannot be asked, the card stays as it is and the reason is kept.
    """
    asked = experiment.spec
    prices = asked.prices if prices is None else prices
    hearing = JudgeSession(judge, asked.patience, VotesFile(experiment))
    cards = experiment.scorecards
    cases = list(_cases(experiment, hearing, last_attempts(cards)))
    _ask(hearing, cases, progress, again=again)
    of_run = {case.run: case for case in cases if not hearing.unasked(case)}
    experiment.replace_scorecards(
        _with_opinion(card, hearing, of_run[card.run], prices)
        if _is_about(of_run.get(card.run), card)
        else card
        for card in cards
    )


def _cases(
    experiment: Experiment, hearing: JudgeSession, cards: Iterable[Scorecard]
) -> Iterator[JudgeQuestion]:
    """Yield what can be judged; a run that does not count is not the agent's work."""
    room = _ROOM.get(hearing.judge.model.partition("/")[0], _USUAL_ROOM)
    problems = {
        one.id: shortened(problem(same_task(one)), room // 3)
        for one in experiment.spec.tasks
    }
    card_of = {card.run: card for card in cards if card.ending.counts}
    for run in experiment.runs():
        card = card_of.get(str(run))
        if card is None:
            continue
        try:
            trace = experiment.trace(run)
        except RecordError as damage:
            hearing.refuse(card.run, card.attempt, str(damage))
            continue
        if not trace.steps:
            hearing.refuse(card.run, card.attempt, "the run took no step")
            continue
        yield JudgeQuestion(
            card.run, card.attempt, problems[run.task], transcript(trace, room)
        )


def _ask(
    hearing: JudgeSession,
    cases: list[JudgeQuestion],
    progress: Progress,
    *,
    again: bool,
) -> None:
    every = list(range(hearing.judge.votes))
    wanted = [(case, every if again else hearing.unasked(case)) for case in cases]
    open_ones = [(case, numbers) for case, numbers in wanted if numbers]
    if not open_ones:
        return
    total = sum(len(numbers) for _, numbers in open_ones)
    progress.start(f"asking {hearing.judge.model} for {total} votes", total)
    # Standard output is for results; whatever the engine says is progress.
    with redirect_stdout(sys.stderr):
        hearing.ask(open_ones, progress)


def _is_about(case: JudgeQuestion | None, card: Scorecard) -> bool:
    return case is not None and case.attempt == card.attempt


def _with_opinion(
    card: Scorecard,
    hearing: JudgeSession,
    case: JudgeQuestion,
    prices: Mapping[str, Price],
) -> Scorecard:
    calls = [ballot.call for ballot in hearing.votes(case).values()]
    costs = [call_cost(call, prices) for call in calls]
    known = [cost for cost in costs if cost is not None]
    opinion = opinion_of(
        hearing.judge.model,
        [read_vote(said_in(call)) for call in calls],
        card.process,
        tokens=sum(sum(call.usage.values()) for call in calls),
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )
    return card.model_copy(update={"opinion": opinion})
