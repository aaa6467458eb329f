"""Tools whose judgement is known beforehand."""

import random
from collections.abc import Callable
from pathlib import Path

from mlagentbench.tasks.check.probes import Probes

from .metric import read_index, read_paragraphs

_LISTING = """
import scholar

WORKS = {works!r}
FIELDS = ("author", "title", "journal", "year")

def cite(paragraph):
    return "".join(map(entry, map(scholar.get, WORKS[paragraph])))

def entry(record):
    record = record | {{"author": " and ".join(record["authors"])}}
    fields = [name + "={{" + record[name] + "}}" for name in FIELDS]
    return "@article{{" + record["id"] + "," + ",".join(fields) + "}}"
"""
_MALFORMED = {
    "empty file": "",
    "syntax error": "def cite(:\n",
    "no text": "def cite(paragraph): return None\n",
    "bytes": "def cite(paragraph): return b'@article{a, title = 1}'\n",
    "a list": "def cite(paragraph): return ['@article{a, title = 1}']\n",
    "half a character": "def cite(paragraph): return '\\udc80'\n",
    "too long a text": "def cite(paragraph): return 'x' * 200_000\n",
    "a gigabyte": "def cite(paragraph): return 'x' * 2**30\n",
    "an exception": "def cite(paragraph): raise RuntimeError('not today')\n",
    "endless sleep": "import time\ndef cite(paragraph): time.sleep(10_000)\n",
}


def probes(truth: Path, folder: Path) -> Probes:
    """Write one submission for each."""
    paragraphs = read_paragraphs(truth)
    known = sorted(read_index(truth.with_name("papers.jsonl")).values())
    draw = random.Random(0)
    right = [sorted(paragraph.cited) for paragraph in paragraphs]

    def write(name: str, code: str) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "bibtex.py").write_text(code, encoding="utf-8")
        return submission

    def listing(name: str, chosen: Callable[[int], list[str]]) -> Path:
        asked = enumerate(paragraph.text for paragraph in paragraphs)
        works = {text: chosen(place) for place, text in asked}
        return write(name, _LISTING.format(works=works))

    return Probes(
        perfect=listing("perfect", lambda place: right[place]),
        weak={
            "constant": listing("constant", lambda _: known[:5]),
            "random": listing("random", lambda _: draw.sample(known, 5)),
            "permuted": listing("permuted", lambda place: right[place - 1]),
        },
        malformed={
            "no file": folder / "no-file",
            **{name: write(name, code) for name, code in _MALFORMED.items()},
        },
    )
