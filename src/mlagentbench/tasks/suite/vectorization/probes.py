"""Layers whose judgement is known beforehand: none of them may get a score."""

from pathlib import Path

from mlagentbench.tasks.check.probes import Probes

_SHAPED = """
import time
import numpy as np

def forward(images, kernels, bias, stride, pad):
    rows = (images.shape[1] + 2 * pad - kernels.shape[1]) // stride + 1
    shape = (len(images), rows, rows, len(bias))
    {body}
"""
_WEAK = {
    "constant": "return np.ones(shape)",
    "random": "return np.random.default_rng(0).standard_normal(shape)",
}
_MALFORMED = {
    "wrong shape": "return np.zeros(shape[:-1])",
    "wrong type": "return np.zeros(shape, np.float32)",
    "NaN": "return np.full(shape, np.nan)",
    "objects": "return np.full(shape, None)",
    "no array": "return 'fast'",
    "an exception": "raise RuntimeError('not today')",
    "endless sleep": "time.sleep(10_000)",
}


def probes(truth: Path, folder: Path) -> Probes:  # noqa: ARG001  # no answer is perfect
    """Write one submission for each."""

    def write(name: str, code: str) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "layer.py").write_text(code, encoding="utf-8")
        return submission

    def shaped(bodies: dict[str, str]) -> dict[str, Path]:
        return {name: write(name, _SHAPED.format(body=bodies[name])) for name in bodies}

    return Probes(
        weak=shaped(_WEAK),
        malformed={
            "no file": folder / "no-file",
            "empty file": write("empty file", ""),
            "syntax error": write("syntax error", "def forward(:\n"),
            **shaped(_MALFORMED),
        },
    )
