"""All benchmarks, or those named: `python benchmarks/all.py [NAME ...]`.

Exits 1 if one misses its limit. `study_ray`, `system_calls` and `timed_grading` take 25
to 60 minutes and run only by name.
"""

import subprocess
import sys
from pathlib import Path

_BY_NAME = ("all", "study_ray", "system_calls", "timed_grading")


def main() -> int:
    """Run the chosen files of this folder, one after the other."""
    here = Path(__file__).parent
    every = sorted(path.stem for path in here.glob("*.py") if path.stem not in _BY_NAME)
    failed = []
    for name in sys.argv[1:] or every:
        print(f"== {name}", flush=True)
        command = [sys.executable, str(here / f"{name}.py")]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"over the limit: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
