"""Files of lines that only grow: a line is there whole or not at all."""

import errno
import os
from pathlib import Path

from mlagentbench.environment.snapshots.place import recording


class LineFile:
    """A file open for one more line; what a killed writer left half is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with recording(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            self._drop_torn_line()

    def append(self, line: str) -> None:
        """Write one line; it is on its way to disk on return."""
        with recording(self._path):
            self._write_whole(line.encode() + b"\n")

    def close(self) -> None:
        """Close the file; more lines are an error."""
        self._file.close()

    def _write_whole(self, line: bytes) -> None:
        before = self._file.seek(0, os.SEEK_END)
        if self._file.write(line) < len(line):
            # A full disk takes part of a line; the part must not stay.
            self._file.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _drop_torn_line(self) -> None:
        written = self._path.read_bytes()
        whole = written.rfind(b"\n") + 1
        if whole < len(written):
            self._file.truncate(whole)


def append_line(path: Path, line: str) -> None:
    """Add one line to a file that is made where there is none."""
    file = LineFile(path)
    try:
        file.append(line)
    finally:
        file.close()
