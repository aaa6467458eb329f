"""Where output goes: results to standard output, progress to standard error."""

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False)


def err() -> Console:
    """Return the console for progress and notices."""
    return Console(stderr=True, highlight=False)


def print_json(document: Any) -> None:  # noqa: ANN401  # any JSON document
    """Print one JSON document and nothing else."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print rows for a person: boxed on a terminal, tab-separated in a pipe."""
    console = out()
    if not console.is_terminal:
        for row in [columns, *rows]:
            click.echo("\t".join(row))
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        # Names of agents and files are no markup, whatever brackets they have.
        table.add_row(*map(Text, row))
    console.print(table)
