"""Asking a model for its next move, once, and making sense of what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, StopReason

from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.complaints import REFUSED, TOO_LONG
from mlagentbench.agents.languages.language import Form, Language
from mlagentbench.agents.moves import Malformed, Understood


@dataclass(frozen=True)
class Heard:
    """A reply and what it comes to."""

    output: ModelOutput
    understood: Understood
    too_long: bool = False
    """Whether the messages did not fit: asked with fewer, the model may answer."""


async def hear(
    context: Context,
    language: Language,
    form: Form,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
) -> Heard:
    """Ask once and understand; whatever the reply is, this does not raise."""
    output = await context.ask(
        messages, tools=language.tools(form), config=language.config(form, config)
    )
    match _stop_reason(output):
        case "content_filter":
            return Heard(output, Malformed(why=REFUSED))
        case "model_length":
            return Heard(output, Malformed(why=TOO_LONG), too_long=True)
        case _:
            return Heard(output, language.understand(output, form))


def _stop_reason(output: ModelOutput) -> StopReason:
    return output.stop_reason if output.choices else "unknown"
