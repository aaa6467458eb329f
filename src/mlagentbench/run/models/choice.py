"""Choice of local models: names, required packages, weights.

Nothing here imports the engine or the model's library, so that a wrong name is
refused at once.
"""

import importlib.util
from collections.abc import Iterable
from pathlib import Path

from mlagentbench.core import Progress, UsageError, install_command
from mlagentbench.run.doctor import Fact
from mlagentbench.run.models.weights import (
    DEFAULT,
    WEIGHTS,
    ensure_weights,
    find_weights,
    place_of,
)

PROVIDER = "local"
_EXTRA = ("xllamacpp", "openai")


def full_model_name(model: str) -> str:
    """Return a model's full name: `local` alone means the default one."""
    provider, _, name = model.partition("/")
    return f"{PROVIDER}/{name or DEFAULT}" if provider == PROVIDER else model


def check_local(models: Iterable[str]) -> None:
    """Refuse local models that are unknown or cannot be served, before any work."""
    for name in _local(models):
        find_weights(name)
        require_extra()


def make_local_ready(models: Iterable[str], cache: Path, progress: Progress) -> None:
    """Fetch the weights of every local model among `models` into the cache."""
    for name in _local(models):
        ensure_weights(cache, name, progress)


def require_extra() -> None:
    if not _has_extra():
        raise UsageError(f"the local model needs xllamacpp: {_install()}")


def local_fact(cache: Path) -> Fact:
    """Return whether `--model local` works, or what it needs."""
    fetched = [name for name in WEIGHTS if place_of(cache, WEIGHTS[name]).is_file()]
    if not _has_extra():
        value = f"xllamacpp is not installed; {_install()}"
        return Fact(name="local model", value=value, status="warn")
    size = WEIGHTS[DEFAULT].gigabytes
    value = f"weights not fetched; `mlab run --model local` fetches {size}"
    if DEFAULT in fetched:
        value = f"ready: {', '.join(fetched)}"
    return Fact(name="local model", value=value)


def _local(models: Iterable[str]) -> list[str]:
    names = (full_model_name(model).partition("/") for model in models)
    return list(dict.fromkeys(name for kind, _, name in names if kind == PROVIDER))


def _install() -> str:
    return f"run `{install_command(PROVIDER)}`"


def _has_extra() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in _EXTRA)
