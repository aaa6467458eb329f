"""Get one archive into the cache, whole and checked, or not at all.

A download happens in a folder of its own inside the archives folder and is moved into
place only when its checksum is right. A process that is killed on the way leaves
that folder behind; the next one that wants the same archive sweeps it.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.core.progress import Progress
from mlagentbench.core.record import Record
from mlagentbench.tasks.atomic import only_one
from mlagentbench.tasks.client import ClientError
from mlagentbench.tasks.digest import sha256_of

Download = Callable[[Path, Progress], None]
"""Put one file into a folder, or raise `ClientError`."""

_REFUSED_BY_PIP = re.compile(r"Got +([0-9a-f]{64})")


class Wanted(Record):
    """The archive that is asked for."""

    label: str
    """Package and version, as its registry writes them."""
    stem: str
    """The archive's file name without its ending; tags of a wheel may follow."""
    endings: tuple[str, ...]
    sha256: str

    def names(self, path: Path) -> bool:
        """Whether a file bears this archive's name, right or wrong inside."""
        ending = next((end for end in self.endings if path.name.endswith(end)), None)
        if ending is None:
            return False
        stem = path.name.removesuffix(ending)
        if ending == ".whl":
            stem = "-".join(stem.split("-")[:2])
        return _plain(stem) == _plain(self.stem)


def obtain(
    wanted: Wanted, archives: Path, download: Download, progress: Progress
) -> Path:
    """Return the archive's path once it lies in `archives` with the right checksum."""
    slug = _plain(wanted.stem)
    with only_one(archives / f".{slug}.lock"):
        for leftover in archives.glob(f".part-{slug}-*"):
            # The client of a killed process may still be writing there.
            shutil.rmtree(leftover, ignore_errors=True)
        found = _already_there(wanted, archives)
        if found is not None:
            return found
        part = Path(tempfile.mkdtemp(prefix=f".part-{slug}-", dir=archives))
        try:
            download(part, progress)
            return _move_into_place(wanted, part, archives)
        except ClientError as error:
            raise _explained(wanted, archives, error) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _already_there(wanted: Wanted, archives: Path) -> Path | None:
    files = (path for path in archives.iterdir() if path.is_file())
    bearing_the_name = [path for path in files if wanted.names(path)]
    sums = {path: sha256_of(path) for path in sorted(bearing_the_name)}
    for path, found in sums.items():
        if found == wanted.sha256:
            return path
    for path, found in sums.items():
        raise _mismatch(wanted, f"{path} is not the archive that is needed", found)
    return None


def _move_into_place(wanted: Wanted, part: Path, archives: Path) -> Path:
    files = [path for path in part.iterdir() if wanted.names(path)]
    if len(files) != 1:
        raise ClientError(f"the client left {len(files)} archives instead of one")
    found = sha256_of(files[0])
    if found != wanted.sha256:
        raise _mismatch(wanted, f"The registry's {files[0].name} has changed", found)
    return files[0].replace(archives / files[0].name)


def _explained(
    wanted: Wanted, archives: Path, error: ClientError
) -> TaskError | MachineError:
    refused = _REFUSED_BY_PIP.search(error.output)
    if refused is not None:
        return _mismatch(
            wanted, f"The registry's {wanted.label} has changed", refused[1]
        )
    return MachineError(
        f"{wanted.label} could not be fetched ({error}); connect to its registry, or "
        f"put {wanted.stem} ({' or '.join(wanted.endings)}) with sha256 "
        f"{wanted.sha256} into {archives} by hand."
    )


def _mismatch(wanted: Wanted, what: str, found: str) -> TaskError:
    return TaskError(
        f"{what}: its sha256 is {found}, {wanted.sha256} was expected for "
        f"{wanted.label}; remove the file, or correct task.toml if it is right."
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
