"""The loop that the paper's agents share: ask, act, remember, until the end."""

from mlagentbench.agents.classic.asking import hear_in_format
from mlagentbench.agents.classic.helper import log_entry, short_enough
from mlagentbench.agents.classic.manner import Manner, opening
from mlagentbench.agents.classic.memory import Memory, Remembered
from mlagentbench.agents.classic.retelling import retold, without_marks, written
from mlagentbench.agents.context import Context
from mlagentbench.agents.fields import PLAN
from mlagentbench.agents.languages.hearing import Heard
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.environment.actions import ACTIONS

PARSING_ERROR = "ActionInputParsingError"


async def work(context: Context, manner: Manner) -> None:
    """Work on the task in one agent's manner, to the end or until it gives up."""
    memory = Memory(opening(context, manner), manner.habits)
    while len(memory.steps) < manner.habits.most_steps:
        heard = await hear_in_format(context, manner, memory)
        if heard is None:
            return
        match heard.understood:
            case Malformed() as malformed:
                await _answer(context, manner, memory, heard, malformed)
            case move:
                await _take(context, manner, memory, heard, move)
                if ACTIONS[move.action].ends_run:
                    return


async def _answer(
    context: Context, manner: Manner, memory: Memory, heard: Heard, malformed: Malformed
) -> None:
    """Tell the model that the input of its action could not be read."""
    why = malformed.why
    if manner.answers_itself:
        why = f"{PARSING_ERROR}: {why}"
    if malformed.move and (usage := ACTIONS[malformed.move.action].usage) not in why:
        why = f"{why} {usage}."
    counts = not manner.answers_itself
    step = await context.reject(spoken(heard.output), why, counts=counts)
    plan = malformed.move.said.get(PLAN, "") if malformed.move else ""
    memory.add(
        Remembered(heard.output, step.observation, plan, unread=manner.answers_itself)
    )


async def _take(
    context: Context, manner: Manner, memory: Memory, heard: Heard, said: Move
) -> None:
    """Take an action and remember it, in the research log too where there is one."""
    move = without_marks(said, manner.form.fields)
    step = await context.act(move.action, said=move.said, **move.given)
    if ACTIONS[move.action].ends_run:
        return
    # Not what we measured ourselves: the paper's agents saw only what was printed.
    observation = step.observation
    if manner.sums_up:
        observation = await short_enough(context, written(move), observation)
    reply = retold(heard.output, move, manner.habits.protocol)
    memory.add(Remembered(reply, observation, move.said.get(PLAN, "")))
    if manner.log:
        await _log(context, memory, written(move), observation)


async def _log(context: Context, memory: Memory, did: str, saw: str) -> None:
    entry = await log_entry(context, did, saw)
    content = f"Step {len(memory.steps)}:\n{entry}"
    await context.act("Append Summary to Research Log", content=content)
    if memory.reaches_back_further:
        step = await context.act(
            "Retrieval from Research Log", current_plan=memory.plan
        )
        memory.recalled = step.observation
