"""A run's trace on disk: appended and flushed line by line, read back tolerantly."""

from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.errors import RecordError
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
from mlagentbench.run.lines import LineFile

_LINE: TypeAdapter[AnyLine] = TypeAdapter(Line)


class TraceWriter:
    """Appends lines to one run's trace; each is on its way to disk on return."""

    def __init__(self, path: Path) -> None:
        self._file = LineFile(path)

    def append(self, line: AnyLine) -> None:
        """Write one line whole."""
        # A step's calls were written when they returned.
        self._file.append(line.model_dump_json(exclude={"calls"}))

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
        raise RecordError(
            f"{path}, line {number} is damaged: {first['msg']};"
            f" the {number - 1} lines before it are whole"
        ) from error
