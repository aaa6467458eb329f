"""The attacks on every kind of user: `python -m tests.redteam.kinds [NAME ...]`.

Root, an ordinary user with control groups of his own, and one without. Each kind is a
process with its own folders, and all run side by side. One table shows all of them.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.redteam.attempt import Result
from tests.redteam.ordinary import (
    UID,
    copy_cache,
    delegated_cgroups,
    environments,
    ordinary_command,
)
from tests.redteam.table import attacks_here

from mlagentbench.core.cache import default_cache

PROJECT = Path(__file__).parents[2]
_STOPPED = "stopped"


@dataclass
class Kind:
    """One kind of user, and what is known about the attacks on him."""

    name: str
    uid: int
    groups: bool
    """Whether the user may make control groups."""
    results: dict[str, Result] = field(default_factory=dict)
    end: str = ""
    """The last lines that the process printed."""
    code: int = 0
    absent: str = ""
    """Why there is no such user on this machine."""

    @property
    def is_broken(self) -> bool:
        """Whether it failed although every attack was stopped, or tried none."""
        all_ok = all(result.ok for result in self.results.values())
        return not self.absent and (not self.results or (all_ok and self.code != 0))


def kinds_here() -> list[Kind]:
    """Return the kinds that this user can be."""
    if os.geteuid() != 0:
        return [Kind("user", os.geteuid(), groups=True)]
    return [
        Kind("root", 0, groups=True),
        Kind("user with cgroups", UID, groups=True),
        Kind("user without", UID + 1, groups=False),
    ]


def main() -> int:
    """Print one table; return 1 if anything is not as it must be."""
    asked = _arguments()
    began = time.monotonic()
    kinds = [
        kind for kind in kinds_here() if not asked.kinds or kind.name in asked.kinds
    ]
    threads = [
        threading.Thread(target=attack, args=(kind, asked.cache, asked.names))
        for kind in kinds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    problems = print_table(kinds)
    _print(f"took {(time.monotonic() - began) / 60:.1f} minutes")
    return 1 if problems else 0


def attack(kind: Kind, cache: Path, names: list[str]) -> None:
    """Carry out the attacks as one kind of user; note the results in it."""
    with contextlib.ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        top.chmod(0o755)
        results = top / "results"
        results.touch()
        os.chown(results, kind.uid, kind.uid)
        command = [sys.executable, "-m", "tests.redteam", "--results", str(results)]
        if kind.uid == os.geteuid():
            where, variables, join = cache, {}, None
        else:
            joined = None
            if kind.groups:
                joined = stack.enter_context(delegated_cgroups(kind.uid))
                if joined is None:
                    kind.absent = "no control groups on this machine"
                    return
                # The user without groups shows the same attacks without the protection.
                command.append("--no-live")
            home = top / "home"
            copy_cache(cache, home, kind.uid)
            where = home / "cache"
            needs = [Path(sys.base_prefix), Path(sys.prefix), PROJECT]
            needs += environments(cache)
            command = ordinary_command(command, needs=needs, uid=kind.uid)
            variables = {"HOME": str(home), "TMPDIR": str(home / "tmp")}
            join = _joining(joined) if joined else None
        process = subprocess.run(
            [*command, "--cache", str(where), *names],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=PROJECT,
            env={**os.environ, **variables},
            preexec_fn=join,
        )
        kind.code = process.returncode
        kind.end = "\n".join(process.stdout.splitlines()[-2:])
        for line in results.read_text().splitlines():
            result = Result.model_validate(json.loads(line))
            kind.results[result.attack] = result


def _joining(files: tuple[Path, ...]) -> Callable[[], None]:
    def join() -> None:
        for file in files:
            file.write_text(str(os.getpid()))

    return join


def print_table(kinds: list[Kind]) -> int:
    """Print one line per attack; return how many are not as they must be."""
    names = [attack.name for attack in attacks_here()]
    tried = [name for name in names if any(name in kind.results for kind in kinds)]
    widths = [max(len(kind.name), 16) for kind in kinds]
    heads = [kind.name.ljust(width) for kind, width in zip(kinds, widths, strict=True)]
    _print(f"{'attack':<26} | {' | '.join(heads)} | live | evidence")
    problems = sum(kind.is_broken for kind in kinds)
    for name in tried:
        found = [kind.results.get(name) for kind in kinds]
        verdicts = [one.in_sandbox.verdict if one else "not tried" for one in found]
        live = _live([one for one in found if one])
        cells = [
            word.ljust(width) for word, width in zip(verdicts, widths, strict=True)
        ]
        _print(f"{name:<26} | {' | '.join(cells)} | {live:<4} | {_evidence(found)}")
        present = [
            word for kind, word in zip(kinds, verdicts, strict=True) if not kind.absent
        ]
        problems += live != "yes" or set(present) != {_STOPPED}
    for kind in kinds:
        _print(f"{kind.name}: {kind.absent or kind.end.splitlines()}")
    _print(f"{len(tried)} attacks, {problems} problems")
    return problems


def _live(found: list[Result]) -> str:
    """Say whether it worked without the protection for any user who could show it."""
    shown = [one.unprotected for one in found if one.unprotected is not None]
    if not shown:
        return "NO"
    return "yes" if all(one.succeeded for one in shown) else "NO"


def _evidence(found: list[Result | None]) -> str:
    """Return what was seen where it did not stop, or else anywhere."""
    known = [one.in_sandbox for one in found if one]
    bad = [seen for seen in known if seen.verdict != _STOPPED]
    return " ".join((bad or known)[0].evidence.split())[:100]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="attacks to try; all when absent")
    parser.add_argument("--kinds", nargs="+", help="names of kinds; all when absent")
    parser.add_argument("--cache", type=Path, default=default_cache())
    return parser.parse_args()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
