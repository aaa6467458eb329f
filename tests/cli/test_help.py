"""Help of every command, and suggestions for mistyped names."""

import click
import pytest

from mlagentbench.cli.main import COMMANDS
from mlagentbench.cli.main import mlab as group


def commands(command=group, path=("mlab",)):
    """Return every command and its path, those of groups too."""
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found += commands(command.get_command(context, name), (*path, name))
    return found


EVERY = [pytest.param(path, one, id=" ".join(path)) for path, one in commands()]


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_help_fits_80_columns_and_cuts_no_summary(path, command):
    context = click.Context(command, info_name=" ".join(path), terminal_width=80)
    lines = command.get_help(context).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    listed = lines[lines.index("Commands:") :] if "Commands:" in lines else []
    assert [line for line in listed if line.endswith("...")] == []


@pytest.mark.parametrize(("path", "command"), EVERY)
def test_every_option_has_help(path, command):
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == [], path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_one_sentence_of_at_most_55_characters(name):
    command = group.get_command(click.Context(group), name)
    summary = command.help.partition("\n\n")[0].strip()
    assert len(summary) <= 55
    assert summary.endswith(".")
    assert "\n" not in summary


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["rnu"], "unknown command 'rnu'; did you mean run?"),
        (["run", "--agnt", "x"], "unknown option '--agnt'; did you mean --agent?"),
        (["run", "house-prise"],
         "unknown task 'house-prise'; did you mean house-price?"),
        (["run", "house-price", "--agent", "tunr"],
         "unknown agent 'tunr'; did you mean tuner?"),
        (["run", "house-price", "--model", "local/smollm"],
         "unknown local model 'smollm'; did you mean smollm2-135m?"),
    ],
)  # fmt: skip
def test_a_mistyped_name_is_answered_with_the_close_one(mlab, words, suggestion):
    said = mlab(*words)
    assert (said.code, said.err) == (2, f"mlab: {suggestion}\n")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["cook"], "unknown command 'cook'; run `mlab --help` to list commands"),
        (["run", "--xyz"],
         "unknown option '--xyz'; run `mlab run --help` to list options"),
        (["run", "nope"], "unknown task 'nope'; run `mlab tasks` to list tasks"),
        (["run", "house-price", "--agent", "nobody"],
         "unknown agent 'nobody'; run `mlab agents` to list agents,"
         " or pass your own as module:function"),
        (["run", "house-price", "--runs", "0"],
         "invalid value for '--runs': 0 is not in the range x>=1;"
         " see `mlab run --help`"),
        (["score"], "missing argument 'EXP...'; see `mlab score --help`"),
    ],
)  # fmt: skip
def test_a_name_that_is_close_to_none_gets_no_suggestion(mlab, words, hint):
    said = mlab(*words)
    assert (said.code, said.err) == (2, f"mlab: {hint}\n")
