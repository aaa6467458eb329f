"""Models whose judgement is known beforehand."""

from pathlib import Path

import numpy as np

from mlagentbench.tasks.check.probes import Probes

from .bytewise import (
    BYTES,
    WIDTH,
    Files,
    by_frequency,
    config,
    safetensors,
    submission,
    tokenizer,
    uniform,
    untrained,
)
from .metric import read_texts

_NAN = uniform() | {"norm.weight": np.full(WIDTH, np.nan, "f4")}
_WRONG_SHAPE = uniform() | {"norm.weight": np.zeros(WIDTH + 1, "f4")}
_FEW = {name: np.zeros((100, WIDTH), "f4") for name in ("tokens.weight", "head.weight")}
_WITH_LUCK = {"type": "BPE", "dropout": 0.5, "vocab": {"a": 0}, "merges": []}
_MALFORMED: dict[str, Files] = {
    "pickle": {"model.safetensors": b"\x80\x04cposix\nsystem\n(X\x04\x00\x00\x00true"},
    "no weights": {"model.safetensors": b""},
    "NaN": {"model.safetensors": safetensors(_NAN)},
    "wrong shape": {"model.safetensors": safetensors(_WRONG_SHAPE)},
    "wrong type": {"model.safetensors": safetensors(uniform("f8"))},
    "memory without end": {"config.json": config(width=2**60)},
    "too many parameters": {"config.json": config(layers=24, width=1024)},
    "an unknown setting": {"config.json": config(trust_remote_code=True)},
    "broken JSON": {"config.json": b"{"},
    "deep JSON": {"config.json": b"[" * 60_000},
    "no tokenizer": {"tokenizer.json": b"[" * 60_000},
    "lower case": {"tokenizer.json": tokenizer(normalizer={"type": "Lowercase"})},
    "dropped text": {"tokenizer.json": tokenizer(BYTES // 2 - 10)},
    "tokens by luck": {"tokenizer.json": tokenizer(model=_WITH_LUCK)},
    "unknown tokens": {
        "config.json": config(vocabulary=100),
        "model.safetensors": safetensors(uniform() | _FEW),
    },
}


def probes(truth: Path, folder: Path) -> Probes:
    """Write one submission for each; no model is perfect."""
    texts = read_texts(truth)
    sound = submission(by_frequency(texts))
    weak = {
        "constant": sound,
        "random": submission(untrained()),
        "permuted": submission(by_frequency(texts, shift=1)),
        "uniform": submission(uniform()),
    }
    broken = {name: sound | files for name, files in _MALFORMED.items()}

    def write(name: str, files: Files) -> Path:
        path = folder / name.replace(" ", "-")
        path.mkdir()
        for file, content in files.items():
            (path / file).write_bytes(content)
        return path

    return Probes(
        weak={name: write(name, files) for name, files in weak.items()},
        malformed={
            "no files": folder / "no-files",
            **{name: write(name, files) for name, files in broken.items()},
        },
    )
