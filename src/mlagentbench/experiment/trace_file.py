"""`trace/<run>.jsonl`: writer, reader, and the record that a resumed run replays.

A resumed agent is run from its beginning. As long as the record lasts, its requests and
actions must be the recorded ones, and the record answers them: no model is called and
no sandbox is touched. Model calls of an action belong to its step and are not repeated.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core import (
    AnyLine,
    Called,
    End,
    Line,
    LineFile,
    ModelCall,
    RecordError,
    ReplayError,
    Resumed,
    Step,
    Trace,
    truncate,
)
from mlagentbench.experiment.record_files import has_huge_number

_LINE: TypeAdapter[AnyLine] = TypeAdapter(Line)


class TraceWriter:
    """One run's trace, open for more lines; each is on its way to disk on return."""

    def __init__(self, path: Path) -> None:
        self._file = LineFile(path)

    def append(self, line: AnyLine) -> None:
        # A step's calls were written when they returned.
        self._file.append(line.model_dump_json(exclude={"calls"}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_trace(path: Path, run: str) -> Trace:
    """Read a trace; a truncated last line is dropped, any other is an error."""
    return parse_trace(path.read_bytes() if path.exists() else b"", path, run)


def parse_trace(content: bytes, path: Path, run: str) -> Trace:
    """Return the trace in the contents of a file, as `read_trace` does."""
    lines = content.split(b"\n")
    steps: list[Step] = []
    calls: list[ModelCall] = []
    resumed, end = 0, None
    for number, raw in enumerate(lines[:-1], start=1):
        try:
            line = _LINE.validate_json(raw)
        except ValidationError as error:
            raise RecordError(
                f"{path}, line {number} is damaged: {error.errors()[0]['msg']};"
                f" the {number - 1} lines before it are complete"
            ) from error
        if has_huge_number(raw, line):
            raise RecordError(f"{path}, line {number}: a number is too large")
        match line:
            case Step() as step:
                steps.append(step.model_copy(update={"calls": tuple(calls)}))
                calls.clear()
            case Called() as called:
                calls.append(called.call)
            case Resumed():
                # The run was resumed, so an earlier `end` line no longer counts.
                resumed, end = resumed + 1, None
            case End() as found:
                end = found
    return Trace(
        run=run, steps=tuple(steps), calls=tuple(calls), resumed=resumed, end=end
    )


class RecordedRun:
    """The part of a trace that is still to be replayed."""

    def __init__(self, trace: Trace) -> None:
        self._steps = deque(trace.steps)
        self._last_calls = trace.calls
        self._calls: deque[ModelCall] = deque()
        self._seconds_left: deque[float] = deque()
        self._next_calls()
        self.last = trace.steps[-1] if trace.steps else None

    @property
    def lasts(self) -> bool:
        """Whether there is more to replay."""
        return bool(self._calls or self._steps)

    def seconds_left(self) -> float | None:
        """Return the recorded answer of `remaining()`, or None if there is none."""
        return self._seconds_left.popleft() if self._seconds_left else None

    def step(self, action: str, inputs: Mapping[str, object]) -> Step | None:
        """Return the recorded step, or None if the record is at its end."""
        if not self._steps:
            return None
        recorded = self._steps.popleft()
        if (recorded.action, recorded.input) != (action, dict(inputs)):
            raise ReplayError(
                f"agent not deterministic: step {recorded.step} was {recorded.action}"
                f" {_short(recorded.input)}, and is now {action} {_short(inputs)}"
            )
        if any(call.asked_by == "agent" for call in self._calls):
            raise ReplayError(
                f"agent not deterministic: before step {recorded.step} it asked its"
                " model more often than it does now"
            )
        self._next_calls()
        return recorded

    def call(self, role: str, request_sha: str) -> ModelCall | None:
        """Return the recorded call, or None if the record is at its end."""
        if not self.lasts:
            return None
        recorded = self._calls.popleft() if self._calls else None
        if recorded is None or (recorded.role, recorded.request_sha) != (
            role,
            request_sha,
        ):
            raise ReplayError(
                f"agent not deterministic: it asks its {role} model something else"
                " than it did before"
            )
        self._next_answers()
        return recorded

    def _next_calls(self) -> None:
        self._calls = deque(self._steps[0].calls if self._steps else self._last_calls)
        self._next_answers()

    def _next_answers(self) -> None:
        """Take the answers that were given before the next call or step."""
        by_agent = (call for call in self._calls if call.asked_by == "agent")
        records: Iterator[ModelCall | Step] = chain(by_agent, self._steps)
        coming = next(records, None)
        self._seconds_left = deque(coming.seconds_left if coming else ())


def _short(inputs: Mapping[str, object]) -> str:
    return truncate(ascii(dict(inputs)), 100)
