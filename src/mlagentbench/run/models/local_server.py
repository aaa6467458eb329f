"""Server process of one model on loopback: reads one request, prints one address.

What the library prints goes to standard error, whichever stream it writes to.
"""

import os
import signal
from pathlib import Path
from typing import Any

from mlagentbench.core import Record, read_request, reserve_stdout

HOST = "127.0.0.1"
CONTEXT_TOKENS = 8192
_PROMPTS_KEPT_MB = 512
"""Memory for prompts of other conversations, whose beginnings are reused."""
_SEEN_BEFORE, _GUESSED = 12, 24
"""After 12 tokens that occurred before, the next 24 are guessed: an edit copies most of
a script. A guess never changes the reply, but a wrong one costs time. A line that
counts up is shorter than 12 tokens; it looks like a copy and is not."""
_ERRORS_ONLY = 1


class ServerRequest(Record):
    """The model to serve, and the key of its users."""

    weights: Path
    name: str
    key: str
    """Required from clients: other users of this machine reach loopback too."""
    threads: int
    guessing: bool = True
    """Whether it guesses tokens that it copies from the prompt."""


class Address(Record):
    """The address of the server."""

    url: str


def main() -> None:
    """Serve the model named on standard input, until the parent ends."""
    request = read_request(ServerRequest)
    with os.fdopen(reserve_stdout(), "w", encoding="utf-8") as output:
        server = _serve(request)
        output.write(Address(url=server.listening_address).model_dump_json() + "\n")
    while True:
        signal.pause()


def _serve(request: ServerRequest) -> Any:  # noqa: ANN401  # it comes without types
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(request.weights)
    params.model_alias = {request.name}
    params.hostnames = [HOST]
    params.port = 0
    params.api_keys = [request.key]
    params.ui = False
    params.endpoint_slots = False
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cache_ram_mib = _PROMPTS_KEPT_MB
    params.cpuparams.n_threads = request.threads
    params.cpuparams_batch.n_threads = request.threads
    params.verbosity = _ERRORS_ONLY
    if request.guessing:
        kinds = xllamacpp.common_speculative_type
        params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
        params.speculative.ngram_simple.size_n = _SEEN_BEFORE
        params.speculative.ngram_simple.size_m = _GUESSED
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
