"""Fields of text, as the paper's agents speak: Thought, Action, Action Input."""

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.languages.complaints import TOO_MUCH
from mlagentbench.agents.languages.explaining import listed
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.moving import as_move
from mlagentbench.agents.languages.replies import (
    as_words,
    heard_whole,
    said_too_much,
    spoken,
)
from mlagentbench.agents.languages.sections import (
    ACTION,
    ACTION_INPUT,
    OBSERVATION,
    fields_said,
    sections,
    texts_of,
    without_observations,
)
from mlagentbench.agents.languages.strict import RefusedError
from mlagentbench.agents.moves import Malformed, Understood
from mlagentbench.agents.prompting import prompt

_STOP = f"{OBSERVATION}:"


class TextLanguage:
    """Fields of text; any model can speak it."""

    def explanation(self, form: Form) -> str:
        """List the actions and show the fields of an answer."""
        fields = [f"{field}: ..." for field in form.fields]
        parts = [*fields, f"{ACTION}: <name of one action>"]
        parts.append(f"{ACTION_INPUT}: <its input, a JSON object>")
        return prompt(
            "language_text", actions=listed(form.actions), parts="\n".join(parts)
        )

    def tools(self, form: Form) -> Sequence[ToolInfo]:  # noqa: ARG002  # the contract's
        """Return no tools."""
        return ()

    def config(self, form: Form, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002
        """Stop a model before it invents what its action shows."""
        stops = [*(config.stop_seqs or []), _STOP]
        return config.model_copy(update={"stop_seqs": stops})

    def understand(self, output: ModelOutput, form: Form) -> Understood:
        """Read the fields; a reply that was cut off is never taken for whole."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        understood = _understood(spoken(output), form)
        return heard_whole(understood, output, sure=False)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply without invented observations, and the real one."""
        return [
            as_words(without_observations(spoken(output))),
            ChatMessageUser(content=f"{_STOP}\n{observation}"),
        ]


def _understood(text: str, form: Form) -> Understood:
    found = sections(text, form)
    named = texts_of(found, ACTION)
    if len(named) != 1:
        return Malformed(why=_not_one_action(text, named))
    name, input_beside = _apart(named[0])
    inputs = texts_of(found, ACTION_INPUT) or [input_beside]
    given = inputs[0] if len(inputs) == 1 else RefusedError("it is given twice")
    return as_move(name, given, fields_said(found, form), form)


def _not_one_action(text: str, named: list[str]) -> str:
    if not text:
        return f'Your reply was empty. Answer with "{ACTION}:" and "{ACTION_INPUT}:".'
    if not named:
        return (
            f'Your reply names no action. Write "{ACTION}:" with the name of one'
            f' action, then "{ACTION_INPUT}:" with a JSON object.'
        )
    return f"Your reply names {len(named)} actions. Take one at a time."


def _apart(named: str) -> tuple[str, str]:
    """Split an action's name from an input that was written right behind it."""
    first_line = named.partition("\n")[0]
    name = first_line.partition("{")[0]
    return name, named[len(name) :]
