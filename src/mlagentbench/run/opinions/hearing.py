"""A judge is heard on an experiment whose runs are judged; no score depends on it."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout

from mlagentbench.core.errors import RecordError
from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.environment.shorten import shortened
from mlagentbench.evaluation.opinions import opinion_of
from mlagentbench.evaluation.pricing import Price, call_cost
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.opinions.asking import Hearing
from mlagentbench.run.opinions.ballots import BallotBox
from mlagentbench.run.opinions.questions import Case
from mlagentbench.run.opinions.reading import read_vote
from mlagentbench.run.opinions.retelling import retold, said_in
from mlagentbench.run.plan import Judge
from mlagentbench.run.preparing import same_task
from mlagentbench.run.scorecards import last_attempts
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.problem import problem

_ROOM = {"local": 12_000}
"""Characters of a run that a provider's models can hold."""
_USUAL_ROOM = 60_000


def hear_judge(
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
    asked = experiment.asked
    prices = asked.prices if prices is None else prices
    hearing = Hearing(judge, asked.patience, BallotBox(experiment))
    cards, _ = experiment.scorecards()
    cases = list(_cases(experiment, hearing, last_attempts(cards)))
    _ask(hearing, cases, progress, again=again)
    of_run = {case.run: case for case in cases if not hearing.unasked(case)}
    experiment.replace(
        _with_opinion(card, hearing, of_run[card.run], prices)
        if _is_about(of_run.get(card.run), card)
        else card
        for card in cards
    )


def _cases(
    experiment: Experiment, hearing: Hearing, cards: Iterable[Scorecard]
) -> Iterator[Case]:
    """Yield what can be judged; a run that does not count is not the agent's work."""
    room = _ROOM.get(hearing.judge.model.partition("/")[0], _USUAL_ROOM)
    problems = {
        one.id: shortened(problem(same_task(one)), room // 3)
        for one in experiment.asked.tasks
    }
    card_of = {card.run: card for card in cards if card.ending.counts}
    for run in experiment.runs():
        card = card_of.get(str(run))
        if card is None:
            continue
        try:
            trace = read_trace(experiment.trace(run), card.run)
        except RecordError as damage:
            hearing.refuse(card.run, card.attempt, str(damage))
            continue
        if not trace.steps:
            hearing.refuse(card.run, card.attempt, "the run took no step")
            continue
        yield Case(card.run, card.attempt, problems[run.task], retold(trace, room))


def _ask(
    hearing: Hearing, cases: list[Case], progress: Progress, *, again: bool
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


def _is_about(case: Case | None, card: Scorecard) -> bool:
    return case is not None and case.attempt == card.attempt


def _with_opinion(
    card: Scorecard, hearing: Hearing, case: Case, prices: Mapping[str, Price]
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
