"""Try all or some attacks as this user: `python -m tests.redteam [NAME ...]`."""

import argparse
import sys
import time
from pathlib import Path

from tests.redteam.attempt import tried
from tests.redteam.setup import open_setup
from tests.redteam.table import attacks_here

from mlagentbench.core.cache import default_cache


def main() -> int:
    """Print one line per attack; return 1 if any succeeded or was not shown live."""
    asked = _arguments()
    attacks = [a for a in attacks_here() if not asked.names or a.name in asked.names]
    with open_setup(asked.cache, asked.agent_env) as setup:
        failures = 0
        for attack in attacks:
            result = tried(setup, attack, live=asked.live)
            _print(f"{result} ({result.seconds:.1f} s)")
            failures += not result.ok
            if asked.results is not None:
                with asked.results.open("a") as file:
                    file.write(f"{result.model_dump_json()}\n")
        left = setup.leftovers()
    _print(f"{len(attacks)} attacks, {failures} of them not as they must be; {left}")
    return 1 if failures or left.any or not attacks else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.redteam", description=__doc__
    )
    parser.add_argument("names", nargs="*", help="attacks to try; all when absent")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--agent-env", type=Path, help="instead of the cache's own")
    parser.add_argument("--results", type=Path, help="file to add results to, as JSON")
    parser.add_argument(
        "--no-live",
        dest="live",
        action="store_false",
        help="do not try the attacks without the protection",
    )
    return parser.parse_args()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    _print(f"took {time.monotonic() - began:.0f} s")
    sys.exit(code)
