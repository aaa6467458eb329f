"""Hand in a hole of 1.9 GB, which takes no disk but fills a memory."""

import os

from evidence import failed

with open("submission.csv", "wb") as file:
    os.truncate(file.fileno(), 1_900_000_000)
failed("the hole is planted; what the harness does with it shows later")
