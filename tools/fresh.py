"""Run the commands of README and docs as a newcomer would.

    python tools/fresh.py                fresh clone, empty caches, every page below
    python tools/fresh.py --here PAGE... this installation and its caches

A page's commands are the lines after `$ ` in ```console blocks and all lines of ```sh
blocks. All pages run in one shell, in a temporary folder. An HTML comment in the line
before a block changes that:

    <!-- file: NAME -->     any block: saved as this file, not run
    <!-- install -->        run only with a fresh clone
    <!-- key -->            needs a provider's key; tests run it against a local server
    <!-- not run: WHY -->   never run

The text below a command must begin as the command's real output does: each line up to
its first number or column.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
JOURNEY = ("README.md", "docs/quickstart.md", "docs/add-an-agent.md")
MAX_MINUTES = 15
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FILE, _END_OF_FILE = "file: ", "END-OF-FILE"
_PROMPT = "$ "
_LABEL = re.compile(r"[^\d\s](?:[^\d\s]| (?! ))*")
_END = "== end of "


@dataclass(frozen=True)
class Block:
    """One block of commands."""

    name: str
    """Page and line."""
    language: str
    mark: str
    text: str

    @property
    def script(self) -> str:
        """The commands."""
        if self.mark.startswith(_FILE):
            name = shlex.quote(self.mark.removeprefix(_FILE))
            return f"cat > {name} <<'{_END_OF_FILE}'\n{self.text}{_END_OF_FILE}\n"
        if self.language == "sh":
            return self.text
        lines = self.text.splitlines()
        typed = [line[2:] for line in lines if line.startswith(_PROMPT)]
        return "\n".join(typed) + "\n"

    @property
    def labels(self) -> list[str]:
        """The beginnings of the output that the page shows."""
        if self.language != "console":
            return []
        lines = [line.strip() for line in self.text.splitlines()]
        shown = [line for line in lines if line and not line.startswith(_PROMPT)]
        found = [_LABEL.match(line) for line in shown]
        return [match[0].strip() for match in found if match]


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = (PROJECT / page).read_text()
    return [
        Block(
            name=f"{page}:{text.count(chr(10), 0, match.start('text'))}",
            language=match["language"],
            mark=match["mark"] or "",
            text=match["text"],
        )
        for match in _BLOCK.finditer(text)
    ]


def chosen(pages: Iterable[str], marks: set[str]) -> list[Block]:
    """Return commands with one of the marks, and files, in the order of the pages."""
    return [
        block
        for page in pages
        for block in blocks(page)
        if (block.language in ("sh", "console") and block.mark in marks)
        or block.mark.startswith(_FILE)
    ]


def run_blocks(
    wanted: list[Block], folder: Path, environment: dict[str, str]
) -> list[str]:
    """Run blocks in one shell; return a sentence about everything that is wrong."""
    script = "".join(f"{one.script}echo; echo '{_END}{one.name}'\n" for one in wanted)
    with subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        finished = dict(_outputs(process.stdout))
    code = process.returncode
    wrong = []
    for block in wanted:
        if block.name not in finished:
            return [*wrong, f"{block.name}: failed with exit code {code}"]
        output = [line.strip() for line in finished[block.name]]
        wrong += [
            f"{block.name}: no line of the output begins with '{label}'"
            for label in block.labels
            if not any(line.startswith(label) for line in output)
        ]
    return wrong


def _outputs(stream: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Print what the shell prints; yield the output of every block that is done."""
    started = time.monotonic()
    lines: list[str] = []
    for line in stream:
        print(line, end="", flush=True)
        if line.startswith(_END):
            print(f"({time.monotonic() - started:.0f} s so far)", flush=True)
            yield line.removeprefix(_END).strip(), lines
            lines = []
        else:
            lines.append(line)


def own_agents_scores(folder: Path) -> list[str]:
    """Return `agent: score` for every scored run of a `module:function` agent."""
    found = []
    for spec in sorted(folder.rglob("runs/*/experiment.json")):
        agent = json.loads(spec.read_text())["agent"]
        cards = spec.with_name("scorecards.jsonl").read_text().splitlines()
        scores = [json.loads(card)["score"] for card in cards]
        found += [f"{agent}: {score}" for score in scores if ":" in agent and score]
    return found


def fresh_environment(folder: Path) -> dict[str, str]:
    """Return variables that give every program an empty cache."""
    return {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "MLAB_CACHE": str(folder / "cache" / "mlagentbench"),
    }


def main() -> int:
    """Run the pages; exit with 1 if something is not as they say."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("pages", nargs="*", default=JOURNEY)
    options.add_argument("--here", action="store_true", help="use this installation")
    given = options.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mlab-fresh-") as name:
        folder = Path(name)
        if given.here:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            wrong = run_blocks(chosen(given.pages, {""}), folder, {"PATH": path})
        else:
            # The pages have no address yet: URL is this repository, as committed.
            wanted = [
                replace(one, text=one.text.replace(" URL ", f" {PROJECT} "))
                for one in chosen(given.pages, {"", "install"})
            ]
            wrong = run_blocks(wanted, folder, fresh_environment(folder))
        minutes = (time.monotonic() - started) / 60
        scores = own_agents_scores(folder)
    if not scores:
        wrong.append("no agent of the user's own has a score")
    if minutes > MAX_MINUTES:
        wrong.append(f"it took more than {MAX_MINUTES} minutes")
    print(*wrong, sep="\n")
    print(f"{minutes:.1f} minutes; own agents: {', '.join(scores) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
