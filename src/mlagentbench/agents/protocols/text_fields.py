"""The text protocol: fields of text (`Thought: ... Action: ... Action Input: ...`)."""

import re
from collections.abc import Iterable
from itertools import takewhile

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import (
    list_actions,
    make_request,
    normalized,
)
from mlagentbench.agents.protocols.json_reader import RefusedError
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
    text_message,
)

ACTION = "Action"
ACTION_INPUT = "Action Input"
OBSERVATION = "Observation"
_STOP = f"{OBSERVATION}:"

Section = tuple[str, str]

_PREAMBLE = ""
"""The name of the section before the first header."""
_COLON = re.compile("[:\uff1a]")  # Chinese models write the second.
_EMPHASIS = "*_`"
_MARKS = _EMPHASIS + "#> \t"
_LONGEST_HEADER = 80


class TextProtocol(ReplyProtocol):
    """Fields of text, which any model can write."""

    shows_its_end = False

    def explanation(self, format: ReplyFormat) -> str:
        fields = [f"{field}: ..." for field in format.fields]
        parts = [*fields, f"{ACTION}: <name of one action>"]
        parts.append(f"{ACTION_INPUT}: <its input, a JSON object>")
        actions = list_actions(format.actions)
        return prompt("protocol_text", actions=actions, parts="\n".join(parts))

    def config(self, format: ReplyFormat, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002  # the contract's
        """Stop a model before it invents the observation of its action."""
        stops = [*(config.stop_seqs or []), _STOP]
        return config.model_copy(update={"stop_seqs": stops})

    def _read(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        text = reply_text(output)
        sections = split_sections(text, format)
        actions = _section_texts(sections, ACTION)
        if len(actions) != 1:
            return Malformed(why=_not_one_action(text, actions))
        # The input may follow the name of the action on the same line.
        name = actions[0].partition("\n")[0].partition("{")[0]
        rest = actions[0][len(name) :]
        inputs = _section_texts(sections, ACTION_INPUT) or [rest]
        given = inputs[0] if len(inputs) == 1 else RefusedError("it is given twice")
        return make_request(name, given, read_fields(sections, format), format)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply without invented observations, and the real one."""
        return [
            text_message(_without_observations(reply_text(output))),
            ChatMessageUser(content=f"{_STOP}\n{observation}"),
        ]


def _not_one_action(text: str, actions: list[str]) -> str:
    if not text:
        return f'Your reply was empty. Answer with "{ACTION}:" and "{ACTION_INPUT}:".'
    if not actions:
        return (
            f'Your reply names no action. Write "{ACTION}:" with the name of one'
            f' action, then "{ACTION_INPUT}:" with a JSON object.'
        )
    return f"Your reply names {len(actions)} actions. Take one at a time."


def split_sections(text: str, format: ReplyFormat) -> list[Section]:
    """Return the name and text of each section, up to an invented observation."""
    headers = (*format.fields, ACTION, ACTION_INPUT, OBSERVATION)
    names = {normalized(name): name for name in headers}
    sections: list[tuple[str, list[str]]] = [(_PREAMBLE, [])]
    for line in text.split("\n"):
        header = _header(line, names)
        if header is None:
            sections[-1][1].append(line)
        elif header[0] == OBSERVATION:
            break
        else:
            sections.append((header[0], [header[1]]))
    return [(name, "\n".join(lines).strip()) for name, lines in sections]


def _without_observations(text: str) -> str:
    """Return a reply up to the first observation that its model invented."""
    names = {normalized(OBSERVATION): OBSERVATION}
    own = takewhile(lambda line: _header(line, names) is None, text.split("\n"))
    return "\n".join(own).rstrip()


def _section_texts(sections: Iterable[Section], wanted: str) -> list[str]:
    return [text for name, text in sections if name == wanted]


def read_fields(sections: Iterable[Section], format: ReplyFormat) -> dict[str, str]:
    """Return the fields of a reply; text without a header counts as the first field."""
    fields: dict[str, list[str]] = {}
    first = format.fields[0] if format.fields else "Thought"
    for name, text in sections:
        field = first if name == _PREAMBLE else name
        if text and field not in (ACTION, ACTION_INPUT):
            fields.setdefault(field, []).append(text)
    return {field: "\n".join(texts) for field, texts in fields.items()}


def _header(line: str, names: dict[str, str]) -> Section | None:
    colon = _COLON.search(line, 0, _LONGEST_HEADER)
    head = line[: colon.start()] if colon else line[:_LONGEST_HEADER]
    stripped = head.strip(_MARKS)
    if colon is None and (stripped == line.strip() or len(line) >= _LONGEST_HEADER):
        return None  # A single word on a line is not a header unless it is marked.
    name = names.get(normalized(stripped))
    # In a header, unlike in a sentence, only spaces are between the letters.
    in_words = all(char.isalnum() or char in " _" for char in stripped)
    if name is None or not in_words or len(stripped) > len(name) + 2:
        return None
    rest = line[colon.end() :] if colon else ""
    opened = head.strip("#> \t")[:1] in tuple(_EMPHASIS)
    closed = head.rstrip()[-1:] in tuple(_EMPHASIS)
    if opened and not closed:  # The second pair of asterisks in `**Action:** ...`.
        rest = rest.lstrip(" \t").lstrip(_EMPHASIS)
    return name, rest
