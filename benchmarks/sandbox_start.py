"""What does a sandbox cost? `python -c pass` in a box against the same bare.

Run it with the cache that holds the agents' environment: `sandbox_start.py [CACHE]`.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mlagentbench.core.cache import default_cache
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.sandbox import Sandbox, SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

ROUNDS = 40
ALLOWED_MS = 40.0
PROGRAM = ("-c", "pass")


async def main() -> int:
    """Interleave bare and boxed starts; fail where a box costs too much."""
    cache = Path(sys.argv[1]) if len(sys.argv) > 1 else default_cache()
    agent_env = ensure_agent_env(cache, "base").path
    with tempfile.TemporaryDirectory() as sandboxes:
        box = open_sandbox(Path(sandboxes), SandboxSpec(agent_env=agent_env), Limits())
        try:
            pairs = [await _both(agent_env, box) for _ in range(ROUNDS)]
        finally:
            box.close()
    bare, boxed = (statistics.median(column) for column in zip(*pairs, strict=True))
    cost = boxed - bare
    print(
        f"python -c pass: bare {bare:.1f} ms, in a box {boxed:.1f} ms, "
        f"difference {cost:.1f} ms (median of {ROUNDS}, at most {ALLOWED_MS:.0f})"
    )
    return int(cost > ALLOWED_MS)


async def _both(agent_env: Path, box: Sandbox) -> tuple[float, float]:
    started = time.perf_counter()
    subprocess.run([str(agent_env / "bin" / "python"), *PROGRAM], check=True, env={})
    between = time.perf_counter()
    execution = await box.execute(["python", *PROGRAM])
    ended = time.perf_counter()
    if execution.returncode != 0:
        raise RuntimeError(execution.stderr.decode())
    return (between - started) * 1000, (ended - between) * 1000


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
