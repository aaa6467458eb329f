"""`mlab agents`: list the agents."""

import click

from mlagentbench.agents import AGENTS
from mlagentbench.cli.console import print_table
from mlagentbench.cli.options import json_option
from mlagentbench.cli.output import print_json


@click.command("agents")
@json_option
def command(*, as_json: bool) -> None:
    """List the agents and whether they need a model."""
    if as_json:
        print_json([entry.model_dump() for entry in AGENTS.values()])
        return
    rows = [
        [entry.name, "yes" if entry.needs_model else "no", entry.summary]
        for entry in AGENTS.values()
    ]
    print_table(["agent", "needs a model", "description"], rows)
