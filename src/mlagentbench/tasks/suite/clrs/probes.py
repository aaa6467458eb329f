"""Processors whose judgement is known beforehand.

None of them is perfect: no code is known to be, and one that solves graphs is refused.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlagentbench.tasks.check.probes import Probes

Numbers = Mapping[str, NDArray[Any]]

HIDDEN = 8
SHAPES = {
    "encoder.weight": (HIDDEN, 3),
    "encoder.bias": (HIDDEN,),
    "way.weight": (16, HIDDEN),
    "way.bias": (16,),
    "step.weight": (16, HIDDEN),
    "step.bias": (16,),
    "processor.mix.weight": (HIDDEN, HIDDEN),
    "processor.mix.bias": (HIDDEN,),
}
"""Of every probe's numbers."""
_PROCESSOR = """
import time
import torch

class Processor(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.mix = torch.nn.Linear(hidden, hidden)

    def forward(self, edges, state, adjacency):
        {body}
"""
_MIXING = "return torch.relu(self.mix(state))"
_MALFORMED = {
    "wrong shape": "return state[:, 1:]",
    "no array": "return 'fast'",
    "an exception": "raise RuntimeError('not today')",
    "endless sleep": "time.sleep(10_000)",
}


def probes(truth: Path, folder: Path) -> Probes:  # noqa: ARG001  # labels help no code
    """Write one submission for each."""
    drawn = _drawn()
    mixing = _PROCESSOR.format(body=_MIXING)

    def write(name: str, code: str, contents: bytes | None) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "processor.py").write_text(code, encoding="utf-8")
        if contents is not None:
            (submission / "model.safetensors").write_bytes(contents)
        return submission

    def coded(name: str, body: str) -> Path:
        return write(name, _PROCESSOR.format(body=body), safetensors(drawn))

    def numbered(name: str, contents: bytes | None) -> Path:
        return write(name, mixing, contents)

    wrong = {**drawn, "processor.mix.bias": np.zeros(HIDDEN + 1, np.float32)}
    not_numbers = {name: np.full_like(old, np.nan) for name, old in drawn.items()}
    doubled = {name: old.astype(np.float64) for name, old in drawn.items()}
    return Probes(
        weak={
            "constant": coded("constant", "return torch.zeros_like(state)"),
            "random": coded("random", _MIXING),
            "unprocessed": coded("unprocessed", "return edges"),
        },
        malformed={
            "no file": folder / "no-file",
            "empty file": write("empty file", "", safetensors(drawn)),
            "syntax error": write("syntax error", "class P(:\n", safetensors(drawn)),
            "no numbers": numbered("no numbers", None),
            "empty numbers": numbered("empty numbers", b""),
            "a pickle": numbered("a pickle", _PICKLE),
            "wrong shapes": numbered("wrong shapes", safetensors(wrong)),
            "missing names": numbered("missing names", safetensors({})),
            "NaN": numbered("NaN", safetensors(not_numbers)),
            "64-bit numbers": numbered("64-bit numbers", safetensors(doubled)),
            **{name: coded(name, body) for name, body in _MALFORMED.items()},
        },
    )


def safetensors(numbers: Numbers) -> bytes:
    """Write arrays in the format of that name: a length, a table, the numbers."""
    kinds = {"<f4": "F32", "<f8": "F64"}
    table, parts, place = {}, [], 0
    for name, array in numbers.items():
        parts.append(array.tobytes())
        table[name] = {
            "dtype": kinds[array.dtype.str],
            "shape": array.shape,
            "data_offsets": (place, place + array.nbytes),
        }
        place += array.nbytes
    header = json.dumps(table).encode()
    return len(header).to_bytes(8, "little") + header + b"".join(parts)


def _drawn() -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    return {
        name: rng.normal(0, 0.3, shape).astype(np.float32)
        for name, shape in SHAPES.items()
    }


_PICKLE = b"\x80\x04cbuiltins\nexec\n(Vraise SystemExit(0)\ntR."
