"""A run's trace on disk: appended and flushed line by line, read back tolerantly."""

from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.errors import RecordError
from mlagentbench.core.trace import End, Line, Step, Trace

_LINE: TypeAdapter[Step | End] = TypeAdapter(Line)


class TraceWriter:
    """Appends lines to one run's trace; each is on its way to disk on return."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("xb", buffering=0)

    def append(self, line: Step | End) -> None:
        """Write one line whole."""
        self._file.write(line.model_dump_json().encode() + b"\n")

    def close(self) -> None:
        """Close the file; more lines are an error."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_trace(path: Path, run: str) -> Trace:
    """Read a trace back; a torn last line is dropped, any other is an error."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    steps: list[Step] = []
    end: End | None = None
    for number, raw in enumerate(lines[:-1], start=1):
        line = _parse(raw, path, number)
        if isinstance(line, Step):
            steps.append(line)
        else:
            end = line
    return Trace(run=run, steps=tuple(steps), end=end)


def _parse(raw: bytes, path: Path, number: int) -> Step | End:
    try:
        return _LINE.validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise RecordError(f"{path}, line {number}: {first['msg']}") from error
