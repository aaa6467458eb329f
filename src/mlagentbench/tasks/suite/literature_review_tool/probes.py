"""Tools whose judgement is known beforehand."""

import random
from collections.abc import Callable
from pathlib import Path

from mlagentbench.tasks.check.probes import Probes

from .metric import RANKED, read_known, read_questions

_LISTING = """
REFERENCES = {references!r}

def review(question):
    listed = REFERENCES[question]
    cited = " ".join(f"[{{work}}]" for work in listed)
    lines = "\\n".join(f"- [{{work}}]" for work in listed)
    return (
        f"## Summary\\n{{'word ' * 30}}\\n## Related work\\n{{cited}}\\n"
        f"## Open questions\\nWhy?\\n## References\\n{{lines}}\\n"
    )
"""
_MALFORMED = {
    "empty file": "",
    "syntax error": "def review(:\n",
    "no text": "def review(question): return None\n",
    "bytes": "def review(question): return b'## Summary'\n",
    "a list": "def review(question): return ['## Summary']\n",
    "half a character": "def review(question): return '\\udc80'\n",
    "too long a text": "def review(question): return 'x' * 200_000\n",
    "a gigabyte": "def review(question): return 'x' * 2**30\n",
    "an exception": "def review(question): raise RuntimeError('not today')\n",
    "endless sleep": "import time\ndef review(question): time.sleep(10_000)\n",
}


def probes(truth: Path, folder: Path) -> Probes:
    """Write one submission for each."""
    questions = read_questions(truth)
    known = sorted(read_known(truth.with_name("papers.jsonl")))
    draw = random.Random(0)
    right = [sorted(question.relevant) for question in questions]

    def write(name: str, code: str) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "review.py").write_text(code, encoding="utf-8")
        return submission

    def listing(name: str, works: Callable[[int], list[str]]) -> Path:
        asked = enumerate(question.text for question in questions)
        references = {text: works(place) for place, text in asked}
        return write(name, _LISTING.format(references=references))

    return Probes(
        perfect=listing("perfect", lambda place: right[place]),
        weak={
            "constant": listing("constant", lambda _: known[:RANKED]),
            "random": listing("random", lambda _: draw.sample(known, RANKED)),
            "permuted": listing("permuted", lambda place: right[place - 1]),
        },
        malformed={
            "no file": folder / "no-file",
            **{name: write(name, code) for name, code in _MALFORMED.items()},
        },
    )
