"""`mlab new-agent`: a small agent to start an own one from."""

import importlib.util
import keyword
from pathlib import Path

import click

from mlagentbench.cli.output import say
from mlagentbench.core import UsageError, recording

_TEMPLATE_NAME = "new_agent"


@click.command("new-agent")
@click.argument("name", metavar="NAME")
def command(*, name: str) -> None:
    """Write a small agent into a new file.

    NAME.py holds an agent that changes the starter and needs no language model.
    """
    from mlagentbench.agents import TEMPLATE

    path = Path(f"{name}.py")
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} is not a module name: use letters, digits and _, and start"
            " with a letter"
        )
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} already exists; choose another name")
    if importlib.util.find_spec(name) is not None:
        raise UsageError(f"a module {name} is already installed; choose another name")
    text = TEMPLATE.read_text(encoding="utf-8").replace(_TEMPLATE_NAME, name)
    with recording(path):
        path.write_text(text, encoding="utf-8")
    say(f"wrote {path}; run it with")
    say(f"  PYTHONPATH=. mlab run house-price --agent {name}:solve")
