"""What does guessing ahead save, and what can it cost at worst?

The same server with and without, the same requests, greedily: the answers must be the
same to the letter. Copying a script is what guessing is for; counting up looks like
copying and never is. It needs the local model's weights and two quiet cores.
"""

import json
import os
import sys
import urllib.request
from dataclasses import dataclass

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import Silent
from mlagentbench.run.models.local import Server
from mlagentbench.run.models.weights import DEFAULT, ensure_weights
from mlagentbench.tasks.load import load_task


@dataclass(frozen=True)
class Work:
    """What is asked for, and how much of the time without guessing it may take."""

    name: str
    changes: tuple[str, ...]
    allowed: float


@dataclass(frozen=True)
class Written:
    """What one server wrote, and how long it took."""

    texts: list[str]
    tokens: int
    seconds: float


COPYING = Work(
    "copying",
    (
        "Use 300 trees and a learning rate of 0.1.",
        "Use every numeric column, missing values filled by the median.",
    ),
    0.9,
)
COUNTING = Work(
    "counting",
    (
        'Add "MissingValue101", "MissingValue102" and so on to COLUMNS, one in a line,'
        ' until "MissingValue190".',
    ),
    1.25,
)
WORKS = (COPYING, COUNTING)


def main() -> int:
    """Rewrite the starter both ways and compare."""
    plain, guessing = (_written(guessing=way) for way in (False, True))
    pairs = zip(WORKS, plain, guessing, strict=True)
    return 0 if all([_holds(*pair) for pair in pairs]) else 1  # noqa: C419  # print all


def _holds(work: Work, plain: Written, guessing: Written) -> bool:
    ratio = guessing.seconds / plain.seconds
    same, kept = plain.texts == guessing.texts, ratio <= work.allowed
    print(work.name)
    for name, found in (("one by one", plain), ("guessing", guessing)):
        speed = found.tokens / found.seconds
        print(f"   {name}: {found.tokens} tokens, {speed:.1f} a second")
    print(f"{'ok' if same else 'NO'} the answers are the same")
    print(f"{'ok' if kept else 'NO'} ratio {ratio:.2f} (at most {work.allowed:.2f})")
    return same and kept


def _written(*, guessing: bool) -> list[Written]:
    weights = ensure_weights(default_cache(), DEFAULT, Silent())
    threads = len(os.sched_getaffinity(0))
    server = Server(weights, DEFAULT, threads, guessing=guessing)
    try:
        return [_done(server, work) for work in WORKS]
    finally:
        server.stop()


def _done(server: Server, work: Work) -> Written:
    answers = [_answer(server, change) for change in work.changes]
    return Written(
        texts=[answer["choices"][0]["message"]["content"] for answer in answers],
        tokens=sum(answer["timings"]["predicted_n"] for answer in answers),
        seconds=sum(answer["timings"]["predicted_ms"] for answer in answers) / 1000,
    )


def _answer(server: Server, change: str) -> dict:
    task = load_task("house-price")
    script = (task.folder / "starter" / task.script).read_text()
    asked = f"```python\n{script}```\n\n{change} Answer with the whole new script."
    body = {
        "model": DEFAULT,
        "temperature": 0,
        "max_tokens": 900,
        "messages": [{"role": "user", "content": asked}],
    }
    request = urllib.request.Request(
        f"{server.url()}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {server.key}"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


if __name__ == "__main__":
    sys.exit(main())
