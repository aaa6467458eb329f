"""Inspect's models by name; one that cannot be had is told in a sentence."""

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import Model, get_model
from rich.errors import MarkupError
from rich.text import Text

from mlagentbench.core.errors import BenchError, UsageError

_END_OF_LINE = re.compile(r"([^.:;,])\n")
_SECRET = re.compile(r"(^|_)(key|token|secret|password|credentials?)$", re.IGNORECASE)
_NAMES = "--model takes `local`, or a model by Inspect's name, such as openai/NAME"


def refuse_keys(args: Mapping[str, Any]) -> None:
    """Refuse a key among settings, which are written into an experiment's records."""
    for name in args:
        if _SECRET.search(name):
            raise UsageError(
                f"-M {name}=... would be kept in the experiment's records; put it into"
                " the environment or into .env, where the provider looks for it"
            )


def reached(name: str, args: Mapping[str, Any] | None = None) -> Model:
    """Return a model without asking it anything.

    Its provider may be unknown, its key or package missing, a setting no setting.
    """
    try:
        return get_model(name, **(args or {}))
    except BenchError:
        raise
    except ValueError as error:
        raise UsageError(f"{name} is no model here: {_said(error)} {_NAMES}") from error
    except Exception as error:
        raise UsageError(f"{name} cannot be asked: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Return a provider's complaint as a sentence; Inspect's is marked up for rich."""
    told = str(getattr(error, "message", error))
    with contextlib.suppress(MarkupError):
        told = Text.from_markup(told).plain
    lines = [line.strip() for line in told.removeprefix("ERROR: ").splitlines()]
    return _END_OF_LINE.sub(r"\1. ", "\n".join(filter(None, lines))).replace("\n", " ")
