"""A provider on loopback that speaks OpenAI's protocol, well or badly.

It answers chat completions with a function from messages to a scripted reply.
Before that it can fail, once each, in the ways providers do.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool
from inspect_ai.model import ChatMessageUser as User

HANG_SECONDS = 30


@contextmanager
def provider(model: str, faults: tuple[str, ...] = ()) -> Iterator["Server"]:
    """Serve a model, `module:function`, until the block is left."""
    module, _, function = model.partition(":")
    server = Server(getattr(import_module(module), function), list(faults))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Server(ThreadingHTTPServer):
    """Knows its requests, how many are open, and what it has still to do wrong."""

    daemon_threads = True

    def __init__(self, respond: Callable, faults: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond = respond
        self.faults = faults
        self.requests: list[dict] = []
        self.open = self.most_open = 0
        self.counting = threading.Lock()
        self.over = threading.Event()

    @property
    def model(self) -> str:
        """What Inspect calls it; each server has a name, since clients are kept."""
        return f"openai-api/loopback/model-{self.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What tells Inspect's `openai-api/loopback` where it is."""
        return {
            "LOOPBACK_BASE_URL": f"http://127.0.0.1:{self.server_port}/v1",
            "LOOPBACK_API_KEY": "sk-loopback-secret-1234567890",
        }


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_POST(self) -> None:
        """Answer a chat completion."""
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        with self.server.counting:
            self.server.requests.append(request)
            self.server.open += 1
            self.server.most_open = max(self.server.open, self.server.most_open)
            fault = self.server.faults.pop(0) if self.server.faults else None
        try:
            if fault is None:
                self._answer(request)
            else:
                getattr(self, f"_{fault}")(request)
        finally:
            with self.server.counting:
                self.server.open -= 1

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, request: dict) -> None:
        message, usage = self._reply(request)
        if request.get("stream"):
            self._stream(_chunks(message, usage))
            return
        choice = {"index": 0, "message": message, "finish_reason": _reason(message)}
        self._send(
            200, {**_head("chat.completion"), "choices": [choice], "usage": usage}
        )

    def _reply(self, request: dict) -> tuple[dict, dict]:
        given = self.server.respond([_as_message(one) for one in request["messages"]])
        reply = {"text": given} if isinstance(given, str) else given
        message = {"role": "assistant", "content": reply.get("text", "")}
        if calls := reply.get("tool_calls"):
            message["tool_calls"] = [_call(n, call) for n, call in enumerate(calls)]
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        return message, usage

    def _rate_limit(self, _: dict) -> None:
        self._send(429, {"error": {"message": "slow down", "type": "rate_limit"}})

    def _failure(self, _: dict) -> None:
        self._send(500, {"error": {"message": "it broke", "type": "server_error"}})

    def _refusal(self, _: dict) -> None:
        self._send(401, {"error": {"message": "wrong key", "type": "auth"}})

    def _malformed(self, _: dict) -> None:
        self._send(200, b'{"choices": [{"mess')

    def _hang(self, _: dict) -> None:
        self.server.over.wait(HANG_SECONDS)

    def _break_off(self, request: dict) -> None:
        message, usage = self._reply(request)
        if request.get("stream"):
            self._stream(_chunks(message, usage)[:1], ended=False)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'{"id": "x", "choices": [')

    def _stream(self, chunks: list[dict], *, ended: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if not ended:
            # Promised and never sent: the connection closes in the middle.
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
        if ended:
            self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, status: int, answer: dict | bytes) -> None:
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _as_message(message: dict) -> object:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    kinds = {"system": ChatMessageSystem, "assistant": ChatMessageAssistant}
    kinds |= {"tool": ChatMessageTool, "user": User}
    return kinds[message["role"]](content=content)


def _call(number: int, call: dict) -> dict:
    arguments = json.dumps(call.get("arguments", {}))
    # Ids are drawn anew by every provider; here they must be new in a conversation.
    return {
        "index": number,
        "id": f"call-{time.monotonic_ns()}-{number}",
        "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
    }


def _chunks(message: dict, usage: dict) -> list[dict]:
    head = _head("chat.completion.chunk")
    text = message["content"] or ""
    middle = len(text) // 2
    deltas = [
        {"role": "assistant", "content": text[:middle]},
        {"content": text[middle:]},
    ]
    deltas += [{"tool_calls": [call]} for call in message.get("tool_calls", [])]
    parts = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": _reason(message)}
    parts.append({**head, "choices": [end]})
    return [*parts, {**head, "choices": [], "usage": usage}]


def _head(kind: str) -> dict:
    return {"id": "reply", "object": kind, "created": 0, "model": "loopback"}


def _reason(message: dict) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"
