"""The one cleaner between the texts of runs and the user's terminal.

Names and texts come from agents, models and folders of strangers. An escape sequence
among them could rewrite the screen or the title of the terminal. Everything that a
command prints goes through this module or through the consoles of `console.py`.
"""

import json
import re
import sys
import traceback
from types import TracebackType
from typing import Any

import click

from mlagentbench.core import harmless

_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]"
)


def say(text: str, *, err: bool = False) -> None:
    """Print a text and a newline; control characters in it become symbols."""
    click.echo(harmless(text), err=err)


def one_line(text: str) -> str:
    """Return the text of a table's cell, which can end neither the cell nor the row."""
    return harmless(text).replace("\n", "\u240a").replace("\t", "\u2409")


def print_json(document: Any) -> None:  # noqa: ANN401  # any JSON document
    """Print one JSON document and nothing else; its data stay as they are."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    click.echo(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def show_cursor() -> None:
    """Show the cursor of a terminal again, which a live display has hidden."""
    click.echo("\x1b[?25h", nl=False, err=True)


def print_traceback(error: BaseException) -> None:
    """Print where an error was raised, on standard error."""
    say("".join(traceback.format_exception(error)).rstrip("\n"), err=True)


def clean_uncaught_errors() -> None:
    """Print tracebacks of the interpreter in the same way; messages quote texts."""

    def show(
        kind: type[BaseException],  # noqa: ARG001  # the hook's signature
        error: BaseException,
        at: TracebackType | None,  # noqa: ARG001
    ) -> None:
        print_traceback(error)

    sys.excepthook = show
