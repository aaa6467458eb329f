"""`mlab doctor`: what can this machine do, and how to fix what it cannot?"""

import click

from mlagentbench.cli.console import print_json, print_table
from mlagentbench.cli.options import json_option


@click.command("doctor")
@json_option
def command(*, as_json: bool) -> int:
    """Check what this machine can do."""
    from mlagentbench.core import default_cache
    from mlagentbench.run import examine, local_fact

    cache = default_cache()
    facts = [*examine(cache), local_fact(cache)]
    if as_json:
        print_json([fact.model_dump() for fact in facts])
    else:
        marks = {True: "ok", False: "FIX", None: ""}
        rows = [[fact.name, marks[fact.ok], fact.value] for fact in facts]
        print_table(["what", "", "found"], rows)
    return 3 if any(fact.ok is False for fact in facts) else 0
