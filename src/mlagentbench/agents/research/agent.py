"""The research agent: its two styles, and the loop of the modern one.

The starter runs first, so that every run has a baseline and something to submit. Then
the model takes one action at a time. It sees the observation, a table of its
trials with the measured validation score, and the remaining budget. After two trials
without improvement, and before submitting, the workspace is restored to the best
trial. A small model works in guided mode: left to itself it names files that no longer
exist, continues from a worse script, and copies its own mistakes.
"""

from dataclasses import replace

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation, Pace
from mlagentbench.agents.paper.paper_agents import classic
from mlagentbench.agents.prompt_files import ideas_for, prompt
from mlagentbench.agents.protocols.ask import find_protocol
from mlagentbench.agents.protocols.reply_protocol import (
    ActionRequest,
    Malformed,
    ReplyFormat,
)
from mlagentbench.agents.research.researcher import (
    EDIT,
    GuidedResearcher,
    Researcher,
    ResearchSetup,
)
from mlagentbench.agents.settings import (
    SMALL_MODEL,
    ClassicSettings,
    ModernSettings,
    read_research,
)
from mlagentbench.environment import ACTIONS, fenced

MANY = (
    "List Files",
    "Read File",
    "Inspect Script Lines",
    "Write File",
    EDIT,
    "Execute Script",
    "Python REPL",
    "Restore Workspace",
    "Check Submission",
    "Final Answer",
)
LOG = "Append Summary to Research Log"


async def research(context: Context) -> None:
    """Do research until the final answer or until the budget is nearly spent."""
    settings = read_research(context.settings)
    if isinstance(settings, ClassicSettings):
        await classic(context, settings)
        return
    setup = _set_up(context)
    pace = Pace(context)
    researcher = await _start(context, setup)
    while (why := researcher.reason_to_stop(pace)) is None:
        parsed = await researcher.ask()
        match parsed.result:
            case Malformed() as malformed:
                await researcher.record_rejection(parsed, malformed.why, "bad_reply")
            case ActionRequest(action="Final Answer") as request:
                await researcher.submit(request.input["final_answer"], request.fields)
                return
            case ActionRequest() as request:
                await researcher.take(parsed, request)
    await researcher.submit(f"{why}; the best so far is submitted.")


def _set_up(context: Context) -> ResearchSetup:
    """Read the settings; a model that prefers a schema is treated as a small one."""
    defaults = SMALL_MODEL if context.protocol == "schema" else {}
    settings = ModernSettings.read({**defaults, **context.settings})
    actions = tuple(ACTIONS[name] for name in MANY)
    if settings.actions == "few":
        script, instruction = context.task.script, "edit_instruction"
        edit = replace(
            ACTIONS[EDIT],
            summary=f"Have an editor change {script} as you instruct it; the new"
            f" {script} is executed at once.",
            parameters={instruction: ACTIONS[EDIT].parameters[instruction]},
        )
        actions = (ACTIONS["Read File"], edit, ACTIONS["Final Answer"])
    if settings.log == "on":
        actions += (ACTIONS[LOG],)
    return ResearchSetup(
        settings=settings,
        protocol=find_protocol(settings.protocol, context.protocol),
        format=ReplyFormat(actions=actions, fields=settings.fields),
        ideas=ideas_for(context.task.modality) if settings.ideas == "generic" else (),
    )


async def _start(context: Context, setup: ResearchSetup) -> Researcher:
    """Measure the baseline; the prompt of a guided model shows the script too."""
    script, source = context.task.script, ""
    guided = setup.settings.actions == "few"
    if guided:
        read = await context.act("Read File", file_name=script)
        source = f"This is `{script}`:\n\n{fenced(read.observation)}\n"
    baseline = await context.act("Execute Script", script_name=script)
    system = prompt("modern", answering=setup.protocol.explanation(setup.format))
    opening = prompt(
        "modern_opening",
        problem=context.problem,
        source=source,
        script=script,
        baseline=baseline.told,
    )
    conversation = Conversation(system, opening, max_tokens=setup.settings.context)
    kind = GuidedResearcher if guided else Researcher
    return kind(context, setup, conversation, baseline)
