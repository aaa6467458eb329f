"""Provider `local` and its servers.

The kernel kills a server when the thread that started it ends, so that even a killed
harness leaves none behind. Start one from the thread that runs the event loop.
"""

import asyncio
import atexit
import logging
import secrets
import select
import subprocess
import tempfile
import threading
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from mlagentbench.core import (
    MachineError,
    Silent,
    child_command,
    default_cache,
    usable_cores,
)
from mlagentbench.run.models.choice import require_extra
from mlagentbench.run.models.local_server import Address, ServerRequest
from mlagentbench.run.models.weights import (
    DEFAULT,
    ensure_weights,
    find_weights,
    found_weights,
)

logger = logging.getLogger(__name__)

Answer = ModelOutput | tuple[ModelOutput | Exception, ModelCall]

_TOKENS = 1024
_TOKENS_AT_MOST = 1500
"""A small model that writes more repeats itself until its context is full."""
_TEMPERATURE = 0.3
"""The default: at a higher one a small model's code seldom runs."""
_SECONDS = 3600.0
_TOO_LONG = "exceeds the available context size"


@modelapi(name="local")
class LocalModel(ModelAPI):
    """A model whose server starts with the first request."""

    def __init__(
        self,
        model_name: str = DEFAULT,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        threads: int | None = None,
    ) -> None:
        """Check that the model exists; `threads` defaults to all cores."""
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self._name = find_weights(model_name).name
        require_extra()
        self._threads = int(threads or usable_cores())
        self._server: Server | None = None
        self._client: Model | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def generate(
        self,
        input: list[ChatMessage],  # Inspect's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> Answer:
        client = await self._connected()
        tokens = min(config.max_tokens or _TOKENS, _TOKENS_AT_MOST)
        chosen = config.temperature
        temperature = _TEMPERATURE if chosen is None else chosen
        config = config.model_copy(
            update={"max_tokens": tokens, "temperature": temperature}
        )
        answer = await client.api.generate(input, tools, tool_choice, config)
        return _with_stop_reason(self._name, answer)

    def max_tokens(self) -> int:
        return _TOKENS

    def max_connections(self) -> int:
        """Serve one request at a time; two would only share the cores."""
        return 1

    def connection_key(self) -> str:
        """Share that one connection among all users of this model."""
        return self._name

    def should_retry(self, ex: Exception) -> bool:
        """Retry if the server was lost; a new one is started."""
        return self._client is not None and bool(self._client.api.should_retry(ex))

    async def aclose(self) -> None:
        """Stop the server; another request would start it again."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.api.aclose()
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    async def _connected(self) -> Model:
        weights = found_weights(self._name)
        if weights is None:
            weights = await asyncio.to_thread(
                ensure_weights, default_cache(), self._name, Silent()
            )
        server = serving(weights, self._name, self._threads)
        url = await asyncio.to_thread(server.url)
        loop = asyncio.get_running_loop()
        # A client's connections belong to one server and to one event loop.
        if self._client is None or (server, loop) != (self._server, self._loop):
            self._server, self._loop = server, loop
            self._client = _client(self._name, url, server.key)
        return self._client


def _client(name: str, url: str, key: str) -> Model:
    from openai import DefaultAsyncHttpxClient

    return get_model(
        f"openai-api/local/{name}",
        base_url=f"{url}/v1",
        api_key=key,
        memoize=False,
        # A proxy in the environment is not for loopback.
        http_client=DefaultAsyncHttpxClient(trust_env=False, timeout=_SECONDS),
        client_timeout=_SECONDS,
    )


def _with_stop_reason(name: str, answer: Answer) -> Answer:
    """Turn the error of a prompt that is too long into a stop reason."""
    if isinstance(answer, ModelOutput):
        return answer
    output, call = answer
    if isinstance(output, Exception) and _TOO_LONG in str(output):
        output = ModelOutput.from_content(name, str(output), stop_reason="model_length")
    return output, call


_LOADING_SECONDS = 300

_SERVERS: dict[tuple[Path, int], "Server"] = {}


class Server:
    """One process that serves one model."""

    def __init__(
        self, weights: Path, name: str, threads: int, *, guessing: bool = True
    ) -> None:
        self.key = secrets.token_urlsafe(32)
        self._name = name
        self._address: Address | None = None
        self._lock = threading.Lock()
        # The file has no name, so nothing is left of it even after a kill.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the server
        self._process = subprocess.Popen(
            child_command("mlagentbench.run.models.local_server"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            # Ctrl-C is for the harness, which may still wait for a reply.
            process_group=0,
        )
        request = ServerRequest(
            weights=weights,
            name=name,
            key=self.key,
            threads=threads,
            guessing=guessing,
        )
        if self._process.stdin is not None:
            self._process.stdin.write(request.model_dump_json().encode())
            self._process.stdin.close()
        logger.info("start a server of %s, process %d", name, self.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def url(self) -> str:
        """Wait until the model is loaded and return its address."""
        with self._lock:
            if self._address is None:
                self._address = self._wait_for_address()
        return self._address.url

    def stop(self) -> None:
        """Kill the process; it has nothing to clean up."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                stream.close()

    def _wait_for_address(self) -> Address:
        out = self._process.stdout
        if out is None or not select.select([out], [], [], _LOADING_SECONDS)[0]:
            raise self._failure(f"it was not loaded after {_LOADING_SECONDS} s")
        if not (line := out.readline()):
            code = self._process.wait()
            self._stderr.seek(0)
            lines = self._stderr.read().decode(errors="replace").strip().splitlines()
            raise self._failure(lines[-1] if lines else f"exit {code}")
        return Address.model_validate_json(line)

    def _failure(self, cause: str) -> MachineError:
        self.stop()
        return MachineError(f"the local model {self._name} cannot be served: {cause}")


def serving(weights: Path, name: str, threads: int) -> Server:
    """Return this process's server of a model; start it if there is none."""
    known = _SERVERS.get((weights, threads))
    if known is not None and known.alive:
        return known
    if known is not None:
        logger.warning("the server of %s is gone; starting another", name)
        known.stop()
    if not _SERVERS:
        atexit.register(stop_all)
    started = Server(weights, name, threads)
    _SERVERS[weights, threads] = started
    return started


def stop_all() -> None:
    """Stop every server of this process; a later request starts one again."""
    for server in _SERVERS.values():
        server.stop()
