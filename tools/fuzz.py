"""Fuzz every reader in tests/fuzz for some minutes each: `make fuzz MINUTES=10`.

atheris (libFuzzer) chooses the inputs by the branches that they reach, if it is
installed. Otherwise hypothesis generates them. Inputs are kept in tests/fuzz/corpus, so
that the next call goes on from there, and one that fails is printed.
"""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).parents[1]
TESTS = PROJECT / "tests" / "fuzz" / "test_readers.py"
CORPUS = PROJECT / "tests" / "fuzz" / "corpus"
SLOWEST_SECONDS = 20
"""An input that takes longer counts as a hang."""


def targets() -> list[str]:
    """Return the names of the tests."""
    lines = TESTS.read_text().splitlines()
    return [line[4:].partition("(")[0] for line in lines if line.startswith("def test")]


def main() -> int:
    """Fuzz all targets; return 1 if one fails."""
    if len(sys.argv) == 3:
        fuzz_with_atheris(*sys.argv[1:])
    minutes = float(sys.argv[1])
    run = in_process if find_spec("atheris") else with_hypothesis
    failed = [name for name in targets() if not run(name, minutes)]
    print("\n".join(f"FAILED {name}" for name in failed) or "no target failed")
    return 1 if failed else 0


def in_process(name: str, minutes: float) -> bool:
    """Run one target in a process of its own, because libFuzzer ends its process."""
    print(f"{name}: {minutes:g} minutes", flush=True)
    done = subprocess.run([sys.executable, __file__, name, str(minutes)], check=False)
    return done.returncode == 0


def fuzz_with_atheris(name: str, minutes: str) -> None:
    """Fuzz one target; does not return."""
    import atheris

    sys.path.insert(0, str(PROJECT))
    with atheris.instrument_imports(include=["mlagentbench"]):
        import tests.fuzz.test_readers as readers

    kept = CORPUS / name
    kept.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={round(60 * float(minutes))}",
        f"-timeout={SLOWEST_SECONDS}",
        f"-artifact_prefix={kept}/",
        "-print_final_stats=1",
    ]
    test = getattr(readers, name).hypothesis.fuzz_one_input
    atheris.Setup([name, *options, str(kept)], lambda data: test(data) and None)
    atheris.Fuzz()


def with_hypothesis(name: str, minutes: float) -> bool:
    """Repeat a property test with new examples until the time is over."""
    end = time.monotonic() + 60 * minutes
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        f"{TESTS}::{name}",
    ]
    variables = os.environ | {"HYPOTHESIS_PROFILE": "thorough"}
    while time.monotonic() < end:
        if subprocess.run(command, check=False, env=variables).returncode:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
