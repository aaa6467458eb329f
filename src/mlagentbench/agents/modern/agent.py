"""The research agent with today's means: a ledger of experiments, and the best kept.

The starter runs first, so that every run has a baseline and something to submit. Then
the model says one move at a time and is shown what came of it, how the experiments
compare by the validation score we measured, and what is left of the budget. After two
trials that are no better than the best, the workspace goes back to the best; so it does
before submitting. A small model is guided.
"""

from mlagentbench.agents.context import Context
from mlagentbench.agents.modern.guided import GuidedResearcher
from mlagentbench.agents.modern.opening import begin
from mlagentbench.agents.modern.researcher import Researcher
from mlagentbench.agents.modern.settings import read_settings
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.agents.pace import Pace


async def modern(context: Context) -> None:
    """Do research until the model has its answer or the budget is nearly spent."""
    settings = read_settings(context.settings, context.speech, context.task)
    pace = Pace(context)
    kind = GuidedResearcher if settings.guided else Researcher
    researcher = kind(context, settings, await begin(context, settings))
    while (why := researcher.reason_to_stop(pace)) is None:
        heard = await researcher.hear()
        match heard.understood:
            case Malformed() as malformed:
                await researcher.turn_down(heard, malformed.why, "bad_reply")
            case Move(action="Final Answer") as move:
                await researcher.submit(move.given["final_answer"], move.said)
                return
            case Move() as move:
                await researcher.do(heard, move)
    await researcher.submit(f"{why}; the best so far is submitted.")
