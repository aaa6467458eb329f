"""Generators whose judgement is known beforehand: none of them may get a score."""

from pathlib import Path

from mlagentbench.tasks.check.probes import Probes

_SHAPED = """
import os
import time
import numpy as np

def load(folder):
    return None

def generate(model, prompts, new_tokens):
    shape = (len(prompts), new_tokens)
    {body}
"""
_WEAK = {
    "constant": "return np.ones(shape, int)",
    "random": "return np.random.default_rng(0).integers(2048, size=shape)",
    "repeated": "return [[prompt[-1]] * new_tokens for prompt in prompts]",
}
_MALFORMED = {
    "too few tokens": "return np.ones((len(prompts), new_tokens - 1), int)",
    "floats": "return np.ones(shape)",
    "NaN": "return np.full(shape, np.nan)",
    "objects": "return np.full(shape, None)",
    "ragged rows": "return [[1] * (number + 1) for number in range(len(prompts))]",
    "no array": "return 'fast'",
    "an exception": "raise RuntimeError('not today')",
    "a sudden end": "os._exit(0)",
    "endless sleep": "time.sleep(10_000)",
}


def probes(truth: Path, folder: Path) -> Probes:  # noqa: ARG001  # no answer is perfect
    """Write one submission for each."""

    def write(name: str, code: str) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "generate.py").write_text(code, encoding="utf-8")
        return submission

    def shaped(bodies: dict[str, str]) -> dict[str, Path]:
        return {name: write(name, _SHAPED.format(body=bodies[name])) for name in bodies}

    return Probes(
        weak=shaped(_WEAK),
        malformed={
            "no file": folder / "no-file",
            "empty file": write("empty file", ""),
            "syntax error": write("syntax error", "def generate(:\n"),
            **shaped(_MALFORMED),
        },
    )
