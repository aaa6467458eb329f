"""Swap a folder for a link to the labels while the harness looks into it."""

import os
import time

from evidence import HINTS, failed

os.mkdir("swap")
with open("swap/answers.csv", "w") as file:
    file.write("ours")
os.symlink(HINTS["private"], "link")
end = time.monotonic() + 3
swaps = 0
while time.monotonic() < end:
    os.rename("swap", "aside")
    os.rename("link", "swap")
    os.rename("swap", "link")
    os.rename("aside", "swap")
    swaps += 1
failed(f"swapped {swaps} times; what the harness read meanwhile shows later")
