"""Ignore every signal that can be ignored, and never end."""

import signal
import sys
import time

for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
sys.stdout.write("ignoring\n")
sys.stdout.flush()
while True:
    time.sleep(60)
