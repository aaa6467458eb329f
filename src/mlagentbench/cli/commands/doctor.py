"""`mlab doctor`: check the machine, and print how to fix it."""

import click

from mlagentbench.cli.console import print_table
from mlagentbench.cli.options import json_option
from mlagentbench.cli.output import print_json


@click.command("doctor")
@json_option
def command(*, as_json: bool) -> int:
    """Check the machine: sandbox, limits, memory, API keys.

    Exits with 3 if a check fails.
    """
    from mlagentbench.core import default_cache
    from mlagentbench.run import examine, local_fact

    cache = default_cache()
    facts = [*examine(cache), local_fact(cache)]
    if as_json:
        print_json([fact.model_dump() for fact in facts])
    else:
        rows = [[fact.name, fact.status, fact.value] for fact in facts]
        print_table(["check", "status", "result"], rows)
    return 3 if any(fact.status == "fail" for fact in facts) else 0
