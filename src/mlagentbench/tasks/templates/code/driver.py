"""Runs the submitted function in the grading sandbox: lines in, dates out."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def load(workspace: Path) -> Callable[[bytes], bytes]:  # noqa: ARG001  # it is on the path
    """Import the submission; return a function from an input file to its output."""
    read_date = import_module("dates").read_date

    def answer(question: bytes) -> bytes:
        lines = question.decode().splitlines()
        return "".join(f"{read_date(line)}\n" for line in lines).encode()

    return answer
