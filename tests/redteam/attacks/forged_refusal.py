"""Fail in the words of the sandbox's own tools, so that the fault seems its own."""

import sys

sys.stderr.write("setpriv: failed to execute python: Permission denied\n")
sys.exit(126)
