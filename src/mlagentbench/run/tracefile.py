"""A run's trace on disk: appended and flushed line by line, read back tolerantly."""

import errno
import os
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.errors import RecordError, blame
from mlagentbench.core.trace import (
    AnyLine,
    Called,
    End,
    Line,
    ModelCall,
    Resumed,
    Step,
    Trace,
)

_LINE: TypeAdapter[AnyLine] = TypeAdapter(Line)


class TraceWriter:
    """Appends lines to one run's trace; each is on its way to disk on return."""

    def __init__(self, path: Path) -> None:
        with blame(RecordError, f"{path} cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            self._drop_torn_line(path)

    def append(self, line: AnyLine) -> None:
        """Write one line whole."""
        # A step's calls were written when they returned.
        text = line.model_dump_json(exclude={"calls"})
        with blame(RecordError, "the trace cannot be written"):
            self._write_whole(text.encode() + b"\n")

    def close(self) -> None:
        """Close the file; more lines are an error."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write_whole(self, line: bytes) -> None:
        before = self._file.seek(0, os.SEEK_END)
        if self._file.write(line) < len(line):
            # A full disk takes part of a line; the part must not stay.
            self._file.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _drop_torn_line(self, path: Path) -> None:
        written = path.read_bytes()
        self._file.truncate(written.rfind(b"\n") + 1)


def read_trace(path: Path, run: str) -> Trace:
    """Read a trace back; a torn last line is dropped, any other is an error."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    steps: list[Step] = []
    calls: list[ModelCall] = []
    resumed, end = 0, None
    for number, raw in enumerate(lines[:-1], start=1):
        match _parse(raw, path, number):
            case Step() as step:
                steps.append(step.model_copy(update={"calls": tuple(calls)}))
                calls.clear()
            case Called() as called:
                calls.append(called.call)
            case Resumed():
                # Whatever ended the run before was not the end after all.
                resumed, end = resumed + 1, None
            case End() as found:
                end = found
    return Trace(
        run=run, steps=tuple(steps), calls=tuple(calls), resumed=resumed, end=end
    )


def _parse(raw: bytes, path: Path, number: int) -> AnyLine:
    try:
        return _LINE.validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise RecordError(f"{path}, line {number}: {first['msg']}") from error
