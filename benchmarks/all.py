"""Every benchmark, one after the other; exits 1 where one misses its limit."""

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run each file beside this one."""
    here = Path(__file__)
    failed = []
    for path in sorted(here.parent.glob("*.py")):
        if path == here:
            continue
        print(f"== {path.stem}", flush=True)
        if subprocess.run([sys.executable, str(path)], check=False).returncode:
            failed.append(path.stem)
    if failed:
        print(f"over the limit: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
