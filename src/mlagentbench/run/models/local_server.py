"""The process that serves one model on loopback: reads one order, prints one address.

The library's noise goes to standard error, whichever stream it was meant for.
"""

import os
import signal
from pathlib import Path
from typing import Any

from mlagentbench.core.child import read_request, reserve_stdout
from mlagentbench.core.record import Record

HOST = "127.0.0.1"
CONTEXT_TOKENS = 8192
_PROMPTS_KEPT_MB = 512
"""Prompts of other conversations that are kept for their common beginnings."""
_SEEN_BEFORE, _GUESSED = 12, 24
"""After so many tokens that stood there before, so many are guessed to follow: editing
copies most of a script. A guess never changes the answer, but a wrong one costs time;
12 tokens are longer than a line that counts up, which looks like copying and is not."""
_ERRORS_ONLY = 1


class ServingOrder(Record):
    """What is to be served, to whom."""

    weights: Path
    name: str
    key: str
    """What a request must show; other users of this machine reach loopback too."""
    threads: int
    guessing: bool = True
    """Whether it guesses ahead what it copies from the prompt."""


class Address(Record):
    """Where it is served."""

    url: str


def main() -> None:
    """Serve as ordered on standard input, until the parent is gone."""
    order = read_request(ServingOrder)
    with os.fdopen(reserve_stdout(), "w", encoding="utf-8") as output:
        server = _serve(order)
        output.write(Address(url=server.listening_address).model_dump_json() + "\n")
    while True:
        signal.pause()


def _serve(order: ServingOrder) -> Any:  # noqa: ANN401  # it comes without types
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = str(order.weights)
    asked.model_alias = {order.name}
    asked.hostnames = [HOST]
    asked.port = 0
    asked.api_keys = [order.key]
    asked.ui = False
    asked.endpoint_slots = False
    asked.n_ctx = CONTEXT_TOKENS
    asked.n_parallel = 1
    asked.cache_ram_mib = _PROMPTS_KEPT_MB
    asked.cpuparams.n_threads = order.threads
    asked.cpuparams_batch.n_threads = order.threads
    asked.verbosity = _ERRORS_ONLY
    if order.guessing:
        kinds = xllamacpp.common_speculative_type
        asked.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        asked.speculative.ngram_simple.size_n = _SEEN_BEFORE
        asked.speculative.ngram_simple.size_m = _GUESSED
    return xllamacpp.Server(asked)


if __name__ == "__main__":
    main()
