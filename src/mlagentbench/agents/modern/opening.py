"""How the modern research agent begins: the baseline, and what the model is told."""

from dataclasses import dataclass

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.modern.settings import Settings
from mlagentbench.agents.prompting import prompt
from mlagentbench.core.trace import Step
from mlagentbench.environment.prompts import fenced


@dataclass(frozen=True)
class Begun:
    """Where the research begins."""

    conversation: Conversation
    baseline: Step


async def begin(context: Context, settings: Settings) -> Begun:
    """Measure the baseline; a guided model is shown the script too."""
    script, source = context.task.script, ""
    if settings.guided:
        read = await context.act("Read File", file_name=script)
        source = f"This is `{script}`:\n\n{fenced(read.observation)}\n"
    baseline = await context.act("Execute Script", script_name=script)
    system = prompt("modern", answering=settings.language.explanation(settings.form))
    opening = prompt(
        "modern_opening",
        problem=context.problem,
        source=source,
        script=script,
        baseline=baseline.told,
    )
    conversation = Conversation(system, opening, most_tokens=settings.context_tokens)
    return Begun(conversation, baseline)
