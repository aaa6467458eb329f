"""Votes of a judging model on the runs of an experiment, asked for and kept.

A vote counts only while its request is the one that would be sent now, by its digest:
`opinions.jsonl` is both the record and the cache of replies that are paid for.
"""

import asyncio
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout

from inspect_ai.model import get_model

from mlagentbench.core import (
    Origin,
    Progress,
    ProviderError,
    RecordError,
    Scorecard,
    UsageError,
    blame,
    provider_info,
    shortened,
)
from mlagentbench.evaluation import Price, call_cost, opinion_of
from mlagentbench.experiment import (
    Experiment,
    Judge,
    Refusal,
    RetryLimits,
    Vote,
    VotesFile,
    last_attempts,
)
from mlagentbench.run.llm_judge.prompt import (
    JudgeQuestion,
    ask_for_vote,
    read_vote,
    reply_text,
    transcript,
)
from mlagentbench.run.model_calls import ModelRequest, call_model
from mlagentbench.tasks import problem

logger = logging.getLogger(__name__)

_RUNS_AT_A_TIME = 4
_GIVE_UP_AFTER = 3
"""Runs in a row on which a provider failed; the others need not wait for it too."""
_LONGEST_REASON = 300


def ask_judge(
    experiment: Experiment,
    judge: Judge,
    progress: Progress,
    *,
    again: bool = False,
    prices: Mapping[str, Price] | None = None,
) -> None:
    """Ask a judge about every run that counts, and put its opinions on the scorecards.

    Earlier votes are used, unless `again` is set. If the judge cannot be asked, the
    scorecard stays as it is and the reason is kept.
    """
    spec = experiment.spec
    if spec.origin is Origin.EXTERNAL:
        raise UsageError(
            f"the runs of {experiment.folder} were made elsewhere: there are no steps"
            " that a judge could rate"
        )
    session = JudgeSession(judge, spec.patience, VotesFile(experiment))
    cards = experiment.scorecards
    questions = list(_questions(experiment, session, last_attempts(cards)))
    session.ask(questions, progress, again=again)
    answered = {
        (question.run, question.attempt): list(session.votes(question).values())
        for question in questions
        if not session.missing(question)
    }
    prices = spec.prices if prices is None else prices
    experiment.replace_scorecards(
        _with_opinion(card, judge, answered[card.run, card.attempt], prices)
        if (card.run, card.attempt) in answered
        else card
        for card in cards
    )


class JudgeSession:
    """One judge, and its votes on the runs of one experiment."""

    def __init__(self, judge: Judge, retries: RetryLimits, file: VotesFile) -> None:
        self.judge = judge
        self._retries = retries
        self._file = file
        self._failed_in_a_row = 0

    def votes(self, question: JudgeQuestion) -> dict[int, Vote]:
        """Return the votes on a run, by number, whose request would be sent now."""
        found = self._file.votes(question.run, question.attempt, self.judge.model)
        return {
            number: vote
            for number, vote in found.items()
            if vote.call.request_sha == self._request(question, number).sha
        }

    def missing(self, question: JudgeQuestion) -> list[int]:
        """Return the numbers of the votes that are still to be asked for."""
        return sorted(set(range(self.judge.votes)) - set(self.votes(question)))

    def ask(
        self,
        questions: Sequence[JudgeQuestion],
        progress: Progress,
        *,
        again: bool = False,
    ) -> None:
        """Ask for missing votes, or for all `again`; a failure is recorded."""
        every = list(range(self.judge.votes))
        wanted = {one: every if again else self.missing(one) for one in questions}
        wanted = {one: numbers for one, numbers in wanted.items() if numbers}
        if not wanted:
            return
        total = sum(map(len, wanted.values()))
        progress.start(f"asking {self.judge.model} for {total} votes", total)
        logging.getLogger("inspect_ai").setLevel(logging.ERROR)
        # Standard output is for results; messages of the engine are progress.
        with redirect_stdout(sys.stderr):
            try:
                asyncio.run(self._ask_all(wanted, progress))
            except ProviderError as error:
                for question in wanted:
                    self.refuse(question.run, question.attempt, str(error))

    def refuse(self, run: str, attempt: int, why: str) -> None:
        """Record why there is no opinion on a run, in one short line."""
        short = " ".join(why.split())[:_LONGEST_REASON]
        logger.warning("no opinion of %s on %s: %s", self.judge.model, run, short)
        self._file.add(
            Refusal(run=run, attempt=attempt, judge=self.judge.model, why=short)
        )

    def _request(self, question: JudgeQuestion, number: int) -> ModelRequest:
        return ask_for_vote(question, number, self.judge.model, self._retries)

    async def _ask_all(
        self, wanted: Mapping[JudgeQuestion, list[int]], progress: Progress
    ) -> None:
        slots = asyncio.Semaphore(_RUNS_AT_A_TIME)

        async def ask_about(question: JudgeQuestion, numbers: list[int]) -> None:
            async with slots:
                if self._failed_in_a_row >= _GIVE_UP_AFTER:
                    why = "not asked any more, after its provider failed repeatedly"
                    self.refuse(question.run, question.attempt, why)
                    return
                try:
                    for number in numbers:
                        call = await call_model(model, self._request(question, number))
                        self._failed_in_a_row = 0
                        self._file.add(
                            Vote(
                                run=question.run,
                                attempt=question.attempt,
                                judge=self.judge.model,
                                number=number,
                                call=call,
                            )
                        )
                        progress.advance(1)
                except ProviderError as error:
                    self._failed_in_a_row += 1
                    self.refuse(question.run, question.attempt, str(error))

        with blame(ProviderError, self.judge.model):
            # The models of the runs belong to an event loop that is closed.
            async with get_model(self.judge.model, memoize=False) as model:
                await asyncio.gather(*(ask_about(*one) for one in wanted.items()))


def _questions(
    experiment: Experiment, session: JudgeSession, cards: Iterable[Scorecard]
) -> Iterator[JudgeQuestion]:
    """Yield a question about every run that counts and has a readable trace."""
    characters = provider_info(session.judge.model).prompt_characters
    problems = {
        task.id: shortened(problem(experiment.task(task)), characters // 3)
        for task in experiment.spec.tasks
    }
    card_of = {card.run: card for card in cards if card.ending.counts}
    for run in experiment.runs():
        card = card_of.get(str(run))
        if card is None:
            continue
        try:
            trace = experiment.trace(run)
        except RecordError as damage:
            session.refuse(card.run, card.attempt, str(damage))
            continue
        if not trace.steps:
            session.refuse(card.run, card.attempt, "the run took no step")
            continue
        yield JudgeQuestion(
            card.run, card.attempt, problems[run.task], transcript(trace, characters)
        )


def _with_opinion(
    card: Scorecard, judge: Judge, votes: Iterable[Vote], prices: Mapping[str, Price]
) -> Scorecard:
    calls = [vote.call for vote in votes]
    costs = [call_cost(call, prices) for call in calls]
    known = [cost for cost in costs if cost is not None]
    opinion = opinion_of(
        judge.model,
        [read_vote(reply_text(call)) for call in calls],
        card.process,
        tokens=sum(sum(call.usage.values()) for call in calls),
        cost_usd=sum(known) if len(known) == len(costs) else None,
    )
    return card.model_copy(update={"opinion": opinion})
