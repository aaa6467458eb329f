"""Measured starter and reference scores: `measured.json` beside task.toml.

The file maps an edition's name to what `mlab measure` found for it.
"""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import TaskError
from mlagentbench.core.task import Measured
from mlagentbench.tasks.complaints import complaints

_EDITIONS = TypeAdapter(dict[str, Measured])


def read_measured(folder: Path) -> dict[str, Measured]:
    """Read what was measured for each edition; empty before the first measurement."""
    path = folder / "measured.json"
    if not path.is_file():
        return {}
    try:
        return _EDITIONS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise TaskError("\n".join(complaints(path, error))) from error


def write_measured(folder: Path, edition: str, measured: Measured) -> None:
    """Record what was measured for one edition and keep the others."""
    found = read_measured(folder) | {edition: measured}
    table = _EDITIONS.dump_python(found, mode="json")
    write_atomically(folder / "measured.json", json.dumps(table, indent=2) + "\n")
