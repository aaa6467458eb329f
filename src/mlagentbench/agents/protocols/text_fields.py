"""Thought / Action / Action Input."""

import re
from collections.abc import Iterable, Sequence

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import as_move, bare, listed
from mlagentbench.agents.protocols.json_reader import RefusedError
from mlagentbench.agents.protocols.protocol import (
    TOO_MUCH,
    Malformed,
    ParsedReply,
    ReplyFormat,
)
from mlagentbench.agents.protocols.replies import (
    as_words,
    said_too_much,
    spoken,
    unless_truncated,
)

OBSERVATION = "Observation"

_STOP = f"{OBSERVATION}:"


class TextLanguage:
    """Fields of text; any model can speak it."""

    def explanation(self, form: ReplyFormat) -> str:
        """List the actions and show the fields of an answer."""
        fields = [f"{field}: ..." for field in form.fields]
        parts = [*fields, f"{ACTION}: <name of one action>"]
        parts.append(f"{ACTION_INPUT}: <its input, a JSON object>")
        return prompt(
            "language_text", actions=listed(form.actions), parts="\n".join(parts)
        )

    def tools(self, form: ReplyFormat) -> Sequence[ToolInfo]:  # noqa: ARG002  # the contract's
        """Return no tools."""
        return ()

    def config(self, form: ReplyFormat, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002
        """Stop a model before it invents what its action shows."""
        stops = [*(config.stop_seqs or []), _STOP]
        return config.model_copy(update={"stop_seqs": stops})

    def understand(self, output: ModelOutput, form: ReplyFormat) -> ParsedReply:
        """Read the fields; a reply that was cut off is never taken for whole."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        understood = _understood(spoken(output), form)
        return unless_truncated(understood, output, sure=False)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply without invented observations, and the real one."""
        return [
            as_words(without_observations(spoken(output))),
            ChatMessageUser(content=f"{_STOP}\n{observation}"),
        ]


def _understood(text: str, form: ReplyFormat) -> ParsedReply:
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


ACTION = "Action"
ACTION_INPUT = "Action Input"
BEFORE = ""
"""Names what stands before the first header."""

Section = tuple[str, str]

_COLON = re.compile("[:\uff1a]")  # the second is what Chinese models write
_EMPHASIS = "*_`"
_MARKS = _EMPHASIS + "#> \t"
_LONGEST = 80


def sections(text: str, form: ReplyFormat) -> list[Section]:
    """Return each section's name and text; what follows an observation is dropped."""
    names = _by_bare_name([*form.fields, ACTION, ACTION_INPUT, OBSERVATION])
    found: list[tuple[str, list[str]]] = [(BEFORE, [])]
    for line in text.split("\n"):
        header = _header(line, names)
        if header is None:
            found[-1][1].append(line)
        elif header[0] == OBSERVATION:
            break
        else:
            found.append((header[0], [header[1]]))
    return [(name, "\n".join(lines).strip()) for name, lines in found]


def without_observations(text: str) -> str:
    """Return a reply up to the first observation its author made up."""
    names = _by_bare_name([OBSERVATION])
    kept: list[str] = []
    for line in text.split("\n"):
        if _header(line, names) is not None:
            break
        kept.append(line)
    return "\n".join(kept).rstrip()


def texts_of(found: Iterable[Section], wanted: str) -> list[str]:
    """Return what stands in the sections of one name."""
    return [text for name, text in found if name == wanted]


def fields_said(found: Iterable[Section], form: ReplyFormat) -> dict[str, str]:
    """Return the form's fields; what has no header is taken for the first of them."""
    said: dict[str, list[str]] = {}
    first = form.fields[0] if form.fields else "Thought"
    for name, text in found:
        field = first if name == BEFORE else name
        if text and field not in (ACTION, ACTION_INPUT):
            said.setdefault(field, []).append(text)
    return {field: "\n".join(texts) for field, texts in said.items()}


def _by_bare_name(names: Iterable[str]) -> dict[str, str]:
    return {bare(name): name for name in names}


def _header(line: str, names: dict[str, str]) -> Section | None:
    colon = _COLON.search(line, 0, _LONGEST)
    head = line[: colon.start()] if colon else line[:_LONGEST]
    stripped = head.strip(_MARKS)
    if colon is None and (stripped == line.strip() or len(line) >= _LONGEST):
        return None  # A word on a line of its own is no header without any mark.
    name = names.get(bare(stripped))
    if name is None or not _spelled_like(stripped, name):
        return None
    rest = line[colon.end() :] if colon else ""
    return name, _without_closing_marks(head, rest)


def _spelled_like(said: str, name: str) -> bool:
    """Tell a header from a sentence: nothing stands between its letters but spaces."""
    return len(said) <= len(name) + 2 and all(
        char.isalnum() or char in " _" for char in said
    )


def _without_closing_marks(head: str, rest: str) -> str:
    """Drop the second pair of asterisks in `**Action:** ...`."""
    opened = head.strip("#> \t")[:1] in tuple(_EMPHASIS)
    closed = head.rstrip()[-1:] in tuple(_EMPHASIS)
    return rest.lstrip(" \t").lstrip(_EMPHASIS) if opened and not closed else rest
