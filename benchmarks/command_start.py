"""How fast `mlab --help` and `mlab tasks` answer, beside importing Inspect.

Prints medians of interleaved starts; exits 1 where a command takes more than a fifth.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 7
LIMIT = 1 / 5
BIN = Path(sys.executable).parent
PEER = "import inspect_ai"
COMMANDS = {
    PEER: [sys.executable, "-c", PEER],
    "mlab --help": [str(BIN / "mlab"), "--help"],
    "mlab tasks": [str(BIN / "mlab"), "tasks"],
}


def main() -> int:
    """Measure and print."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            seconds[name].append(timed(command))
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    worst = 0.0
    for name, median in medians.items():
        ratio = median / medians[PEER]
        print(f"{name:20} {1000 * median:7.0f} ms   {ratio:.2f} of `{PEER}`")
        if name != PEER:
            worst = max(worst, ratio)
    return 0 if worst <= LIMIT else 1


def timed(command: list[str]) -> float:
    """Return the wall time of one start."""
    clock = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - clock


if __name__ == "__main__":
    sys.exit(main())
