"""Become 128 threads instead of processes."""

import threading

from evidence import failed, succeeded

WANTED = 128
end = threading.Event()
count = 1
try:
    while count < WANTED:
        threading.Thread(target=end.wait, daemon=True).start()
        count += 1
except (RuntimeError, OSError):
    pass
(succeeded if count >= WANTED else failed)(f"{count} of {WANTED} threads were alive")
end.set()
