"""Builds the submitted model in the grading sandbox and reads texts to it.

No submitted code is run: a submission is numbers, a configuration and a tokenizer.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def load(workspace: Path) -> Callable[[bytes], bytes]:
    """Build the model; return what turns texts into their surprise in nats."""
    network = import_module(f"{__package__}.network")
    # It is ours, whatever file of that name lies in the workspace.
    sys.modules["network"] = network
    likelihood = import_module(f"{__package__}.likelihood")
    try:
        reader = likelihood.load(workspace)
    except network.UnusableError as error:
        raise SystemExit(str(error)) from error

    def answer(texts: bytes) -> bytes:
        try:
            nats = likelihood.nats_of(reader, json.loads(texts))
        except network.UnusableError as error:
            raise SystemExit(str(error)) from error
        line = f"{nats.dtype.str} {len(nats)}\n"
        return b"".join((line.encode(), nats.tobytes()))

    return answer
