"""Runs a submitted processor in the grading sandbox, inside our own network.

For each input it answers with the pointers of the submitted numbers and with those of
other numbers for the processor; `grade` wants the former right and the latter poor.
The trials are made in an order nobody knows, each in a process of its own.
"""

import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .metric import read_graphs
from .variants import PROCESSOR, TRIALS, Numbers, trials
from .workers import start

MOST_CODE = 64 * 2**10
MOST_NUMBERS = 8 * 2**20


def load(workspace: Path) -> Callable[[bytes], bytes]:
    """Take the submission out of everybody's sight; return what answers inputs."""
    import_module("torch").set_num_threads(1)
    network = import_module(f"{__package__}.network")
    first, *others = start(1 + TRIALS, _work)
    code = _taken(workspace / "processor.py", MOST_CODE)
    saved = _taken(workspace / "model.safetensors", MOST_NUMBERS)
    submitted = _read_numbers(saved)
    hidden = bytes([network.hidden_of(saved)])

    def answer(question: bytes) -> bytes:
        tensors = import_module("safetensors.numpy")
        # Nothing but the size: what it knew of the numbers it could pass on.
        drawn = tensors.load(first.do([code, hidden]))
        initial = {
            name: drawn[name].reshape(old.shape).astype(old.dtype)
            for name, old in submitted.items()
            if name.startswith(PROCESSOR)
        }
        found = [b""] * TRIALS
        numbered = list(enumerate(trials(submitted, initial, question)))
        random.SystemRandom().shuffle(numbered)
        graphs = read_graphs(question)
        for worker, (place, numbers) in zip(others, numbered, strict=True):
            found[place] = worker.do([code, tensors.save(numbers), question])
            if len(found[place]) != graphs.size:
                raise ValueError("one pointer for each pair was asked for")
        shape = ",".join(map(str, (TRIALS, *graphs.shape)))
        return f"|u1 {shape}\n".encode() + b"".join(found)

    return answer


def _taken(path: Path, limit: int) -> bytes:
    """Read a file and remove it: who could compare would know its trial."""
    if path.is_symlink() or path.stat().st_size > limit:
        raise ValueError(f"{path.name} is a link or larger than {limit} bytes")
    contents = path.read_bytes()
    path.unlink()
    return contents


def _read_numbers(contents: bytes) -> Numbers:
    tensors = import_module("safetensors.numpy").load(contents)
    for name, numbers in tensors.items():
        if numbers.dtype != np.float32 or not np.isfinite(numbers).all():
            raise ValueError(f"{name}: all numbers must be finite and 32-bit floats")
    # In the order of their names, because chance is drawn in that order.
    return dict(sorted(tensors.items()))


def _work(job: list[bytes]) -> bytes:
    """Build the network in a worker; return its first numbers, or its pointers."""
    torch = import_module("torch")
    torch.manual_seed(0)
    torch.set_deterministic_debug_mode("warn")
    network = import_module(f"{__package__}.network")
    code, numbers, *question = job
    processor_class = _module(code).Processor
    if not question:
        fresh = network.Network(processor_class, numbers[0])
        return _saved(fresh.state_dict())
    loaded = network.load(numbers, processor_class)
    return bytes(loaded.predict(read_graphs(question[0])).tobytes())


def _saved(tensors: dict[str, Any]) -> bytes:
    arrays = {name: tensor.detach().numpy() for name, tensor in tensors.items()}
    return bytes(import_module("safetensors.numpy").save(arrays))


def _module(code: bytes) -> Any:  # noqa: ANN401  # whatever the submission defines
    module = ModuleType("processor")
    sys.modules["processor"] = module
    exec(compile(code, "processor.py", "exec"), module.__dict__)
    return module
