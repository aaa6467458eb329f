"""Write docs/cli.md: every command and option of `mlab`.

    python tools/cli_page.py

All text comes from the commands themselves, so run it after changing one.
"""

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from mlagentbench.cli.main import mlab

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
INTRODUCTION = """# Command line

`mlab --help` and `mlab COMMAND --help` print the same text.

- EXP is the folder of an experiment, such as
  `runs/20261117-091744-house-price-tuner`. EXP:NAME picks one run, agent or model.
- Results go to standard output, progress and errors to standard error.
- You can set an option by the variable in the last column of its table.
- `MLAB_CACHE` is the folder for fetched and prepared data, the agents' Python
  environments and the weights of local models. Default: `mlagentbench` in your cache
  folder (`~/.cache` on Linux). Several users and machines may share it.
- `MLAB_SCRATCH` is a folder for open sandboxes and running cells on a disk of this
  machine. Default: the cache. Set it if the cache is on a network file system.

| exit code | meaning |
|---|---|
| 0 | Done. `mlab run` also exits with 0 if the scores are bad. |
| 1 | Failed: a check, a grading, or a run that ended \
`broken`, `interrupted` or `provider_error`. |
| 2 | The command or an option is wrong. |
| 3 | This machine cannot do it. The message says how to fix that. |

"""
FOOT = "\nThis page is written by `python tools/cli_page.py`.\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


def page() -> str:
    """Return the complete page."""
    root = click.Context(mlab, info_name="mlab")
    commands = list(_commands(root))
    return (
        INTRODUCTION
        + _table(("command", "purpose"), [_summary(one) for one in commands])
        + "".join(map(_section, commands))
        + FOOT
    )


def _commands(group: click.Context) -> Iterator[click.Context]:
    """Yield the context of every command, subcommands after their group."""
    assert isinstance(group.command, click.Group)
    for name in group.command.list_commands(group):
        command = group.command.get_command(group, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=group)
        yield context
        if isinstance(command, click.Group):
            yield from _commands(context)


def _summary(context: click.Context) -> tuple[str, str]:
    first = _help(context).partition("\n\n")[0]
    anchor = context.command_path.replace(" ", "-")
    return f"[`{context.command_path}`](#{anchor})", _one_line(first)


def _section(context: click.Context) -> str:
    usage = " ".join(context.command.collect_usage_pieces(context))
    text = "\n\n".join(map(_one_line, _help(context).split("\n\n")))
    head = f"\n## {context.command_path}\n\n"
    head += f"```text\n{context.command_path} {usage}\n```\n\n{text}\n\n"
    rows = [
        _option(option, context)
        for option in context.command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    return head + (_table(("option", "meaning", "variable"), rows) if rows else "")


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    record = option.get_help_record(context)
    assert record is not None
    flags, text = record
    variable = f"`{option.envvar}`" if isinstance(option.envvar, str) else ""
    return f"`{flags}`".replace("|", "\\|"), _cell(text), variable


def _help(context: click.Context) -> str:
    return cleandoc(context.command.help or "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    main()
