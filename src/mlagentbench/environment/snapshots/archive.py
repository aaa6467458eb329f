"""A workspace that came as a tar archive: read with suspicion, never extracted."""

import io
import os
import stat
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.snapshots.found import (
    HARD_LINK,
    UNREADABLE,
    Found,
    is_read_only,
    other_kind,
)
from mlagentbench.environment.snapshots.limits import OVER, SnapshotLimits

_HEADER_AT_MOST = 2**20
_LOOKS = 2
"""Members looked at for each file that a snapshot may hold."""
_LONGEST_NAME = 255
_LONGEST_PATH = 4095
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_KINDS = {
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
}
_LETTERS = {
    b"l": stat.S_IFLNK,
    b"p": stat.S_IFIFO,
    b"s": stat.S_IFSOCK,
    b"c": stat.S_IFCHR,
    b"b": stat.S_IFBLK,
}


class Archive:
    """Lists and opens what an archive holds."""

    def __init__(
        self, packed: BinaryIO, left_out: bytes, limits: SnapshotLimits, *, cut: bool
    ) -> None:
        """Read an open file, maybe cut short, and the list of what was not packed."""
        self._packed = packed
        self._left_out = left_out
        self._limits = limits
        self._cut = cut

    def found(self) -> list[Found]:
        """List everything in it that is not mounted read-only."""
        all_: dict[str, Found] = {}
        for found in (*self._members(), *self._not_packed()):
            if _is_plain(found.path) and not is_read_only(found.path):
                all_.setdefault(found.path, found)
        return [each for each in all_.values() if not _is_below_a_file(each.path, all_)]

    @contextmanager
    def opened(self, found: Found) -> Iterator[int]:
        """Go to the contents of one file."""
        descriptor = self._packed.fileno()
        os.lseek(descriptor, found.offset, os.SEEK_SET)
        yield descriptor

    def notices(self) -> Sequence[str]:
        """Say what could not even be listed."""
        if not self._cut:
            return ()
        return ("the workspace is so large that some files were not even looked at",)

    def _members(self) -> Iterator[Found]:
        self._packed.flush()
        end = os.fstat(self._packed.fileno()).st_size
        try:
            with tarfile.open(
                fileobj=_ShortReads(self._packed.fileno()),
                mode="r:",
                encoding="utf-8",
                errors="surrogateescape",
            ) as archive:
                for member in islice(archive, _LOOKS * self._limits.files):
                    found = _found(member)
                    if 0 <= found.size <= end - found.offset:
                        yield found
        except (tarfile.TarError, RecursionError, ValueError, OSError) as error:
            if not self._cut:
                raise SandboxError(
                    f"the sandbox sent an archive that cannot be read: {error}"
                ) from error

    def _not_packed(self) -> Iterator[Found]:
        lines = self._left_out.split(b"\0", _LOOKS * self._limits.files)
        for line in lines:
            fields = line.split(b" ", 3)
            if len(fields) == 4 and fields[1].isdigit() and fields[2].isdigit():
                kind, names, size, path = fields
                bytes_ = int(size[:18]) if kind == b"f" else 0
                found = Found(os.fsdecode(path), size=bytes_)
                yield found._replace(skipped=self._reason(kind, names, found.size))

    def _reason(self, kind: bytes, names: bytes, size: int) -> str:
        if kind != b"f":
            return other_kind(_LETTERS.get(kind, 0))
        if names != b"1":
            return HARD_LINK
        return OVER if size > self._limits.size else UNREADABLE


class _ShortReads(io.FileIO):
    """A file of which no header can make `tarfile` read more than a header has."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "rb", closefd=False)
        self.seek(0)

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _HEADER_AT_MOST:
            raise tarfile.ReadError("a header is too long")
        return super().read(size) or b""


def _found(member: tarfile.TarInfo) -> Found:
    path = member.name.removeprefix("./")
    mode = member.mode & 0o777
    if member.isdir():
        return Found(path, is_folder=True, mode=mode)
    if member.type in _PLAIN and not member.issparse():
        return Found(path, mode=mode, size=member.size, offset=member.offset_data)
    if member.islnk():
        return Found(path, skipped=HARD_LINK)
    return Found(path, skipped=other_kind(_KINDS.get(member.type, 0)))


def _is_plain(path: str) -> bool:
    parts = path.split("/")
    return (
        "\0" not in path
        and len(os.fsencode(path)) <= _LONGEST_PATH
        and all(
            part not in ("", ".", "..") and len(os.fsencode(part)) <= _LONGEST_NAME
            for part in parts
        )
    )


def _is_below_a_file(path: str, all_: dict[str, Found]) -> bool:
    while path := path.rpartition("/")[0]:
        if path in all_ and not all_[path].is_folder:
            return True
    return False
