"""The flags that ask a judge for its opinion, and how they are read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from mlagentbench.core.errors import UsageError

if TYPE_CHECKING:
    from mlagentbench.run.plan import Judge

Command = Callable[..., Any]

JUDGE = "judge"
USUAL_VOTES = 3

votes_option = click.option(
    "--votes",
    type=click.IntRange(1, 99),
    help=f"How often the judge is asked about each run.  [default: {USUAL_VOTES}]",
)


def judge_options(command: Command) -> Command:
    """Add the flags of a command that asks nobody but a judge."""
    for option in (_AGAIN, votes_option, _ROLE):
        command = option(command)
    return command


def read_judge(pairs: tuple[str, ...], votes: int | None) -> "Judge | None":
    """Read `--role judge=MODEL`, with how often it is asked."""
    from mlagentbench.run.models.choice import check_local, spelled_out
    from mlagentbench.run.plan import Judge

    named = [model for role, _, model in map(_parted, pairs) if role == JUDGE]
    if not named:
        if votes is not None:
            raise UsageError("--votes needs a judge too: --role judge=MODEL")
        return None
    model = spelled_out(named[-1])
    check_local([model])
    return Judge(model=model, votes=votes or USUAL_VOTES)


def refuse_other_roles(pairs: tuple[str, ...]) -> None:
    """Refuse roles that have a part in a run, where no run is started."""
    for pair in pairs:
        role, _, model = _parted(pair)
        if role != JUDGE or not model:
            raise UsageError(f"--role takes judge=MODEL here, not '{pair}'")


def _parted(pair: str) -> tuple[str, str, str]:
    return pair.partition("=")


_ROLE = click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="judge=MODEL",
    help="A model that says what it thinks of each run; no score depends on it.",
)
_AGAIN = click.option(
    "--again", is_flag=True, help="Ask the judge again for votes it gave before."
)
