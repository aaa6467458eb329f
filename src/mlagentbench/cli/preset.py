"""`mlab run --preset paper`: values for the options that are not given."""

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from mlagentbench.cli.console import err
from mlagentbench.core import UsageError

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "agent": ["research"],
        "max_steps": 50,
        "max_minutes": 300.0,
        "runs": 8,
    }
}
"""By name of the preset and of the parameter."""
_SUITE = "paper"
_CLASSIC = "style=classic"
"""The setting that makes `research` the paper's agent."""


def take_preset(
    context: click.Context, _: click.Parameter, name: str | None
) -> str | None:
    """Make a preset's values the defaults of the command's other options."""
    if name is not None:
        context.default_map = PRESETS[name]
    return name


def preset_suite(
    preset: str | None, suite: str | None, *, is_named: bool
) -> str | None:
    """Return the suite; that of the preset if no task is named."""
    return suite or (_SUITE if preset and not is_named else None)


def preset_settings(
    preset: str | None, agents: Sequence[str], settings: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the agent's settings, with that of the preset for its own agent."""
    is_given = any(one.startswith("style=") for one in settings)
    if not preset or "research" not in agents or is_given:
        return settings
    if len(set(agents)) > 1:
        raise UsageError(
            f"--preset {preset} needs -A {_CLASSIC} for research, a setting that other"
            " agents do not have; run them with a command of their own"
        )
    return (*settings, _CLASSIC)


def print_preset() -> None:
    """Print the options that the preset of the current command set."""
    context = click.get_current_context()
    given = context.params
    if (preset := given["preset"]) is None:
        return
    words = [
        f"--{name.replace('_', '-')} {_written(given[name])}"
        for name in PRESETS[preset]
        if context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    ]
    settings = given["settings"]
    if preset_settings(preset, given["agent"], settings) != settings:
        words.append(f"-A {_CLASSIC}")
    is_named = bool(given["tasks"] or given["every"] or given["suite"])
    if preset_suite(preset, None, is_named=is_named):
        words.append(f"--suite {_SUITE}")
    err().print(f"preset {preset}: {' '.join(words) or 'sets nothing'}")


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
