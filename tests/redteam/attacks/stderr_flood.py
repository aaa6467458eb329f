"""Begin a line, then flood the other stream: who reads line by line waits for ever."""

import sys

sys.stdout.write("half a line")
sys.stdout.flush()
for _ in range(100):
    sys.stderr.write("e" * 10**6)
