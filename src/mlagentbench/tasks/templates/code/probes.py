"""Submissions whose grade is known beforehand."""

from pathlib import Path

from mlagentbench.tasks.check.probes import Probes

_FUNCTION = "import random\n\n\ndef read_date(text):\n    {body}\n"
_WEAK = {
    "constant": "return '2001-01-01'",
    "random": "return f'2001-{random.Random(text).randint(1, 12):02d}-01'",
}
_MALFORMED = {
    "too many lines": "return 'a\\nb'",
    "an exception": "raise RuntimeError('not today')",
}


def probes(truth: Path, folder: Path) -> Probes:  # noqa: ARG001  # code, not answers
    """Write one submission for each."""

    def write(name: str, code: str) -> Path:
        submission = folder / name.replace(" ", "-")
        submission.mkdir()
        (submission / "dates.py").write_text(code, encoding="utf-8")
        return submission

    def functions(bodies: dict[str, str]) -> dict[str, Path]:
        return {
            name: write(name, _FUNCTION.format(body=bodies[name])) for name in bodies
        }

    return Probes(
        weak=functions(_WEAK),
        malformed={
            "no file": folder / "no-file",
            "empty file": write("empty file", ""),
            "syntax error": write("syntax error", "def read_date(:\n"),
            **functions(_MALFORMED),
        },
    )
