"""How the values of `mlab run`'s flags are read."""

import os
from typing import Any

from mlagentbench.cli.judge_options import JUDGE
from mlagentbench.core.errors import UsageError

ROLES = ("editor", "helper")
"""Parts of an agent's work that another model may do."""


def read_settings(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read `-A key=value`, given any number of times."""
    return _read_pairs("-A", "KEY=VALUE", pairs)


def read_model_args(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Read `-M key=value`; numbers and booleans are taken as such."""
    read = _read_pairs("-M", "KEY=VALUE", pairs)
    return {key: _as_yaml(key, value) for key, value in read.items()}


def _as_yaml(key: str, value: str) -> object:
    import yaml

    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UsageError(
            f"-M {key}={value} cannot be read as a number, a word or a list;"
            f" put the value in quotes of its own: -M '{key}=\"...\"'"
        ) from error


def read_roles(pairs: tuple[str, ...], model: str | None) -> dict[str, str]:
    """Read `--role role=model`; only parts of a main model's work can be shared."""
    roles = _read_pairs("--role", "ROLE=MODEL", pairs)
    roles.pop(JUDGE, None)
    if unknown := sorted(set(roles) - set(ROLES)):
        known = ", ".join((*ROLES, JUDGE))
        raise UsageError(f"there is no role '{unknown[0]}'; there are {known}")
    if roles and model is None:
        raise UsageError("--role needs --model too, the model that does the rest")
    return roles


def _read_pairs(flag: str, form: str, pairs: tuple[str, ...]) -> dict[str, str]:
    read: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise UsageError(f"{flag} takes {form}, not '{pair}'")
        read[key] = value
    return read


def refuse_too_many(parallel: int) -> None:
    """Refuse more runs at a time than there are cores: they would not be fair."""
    cores = len(os.sched_getaffinity(0))
    if parallel > cores:
        raise UsageError(
            f"--parallel {parallel} is more than this machine's {cores} cores;"
            " runs that share a core are not comparable"
        )
