"""Hand in a second name of another file: the labels, the data, or one of ours."""

import os

from evidence import HINTS, failed, succeeded

for target in (HINTS["labels"], "data/validation.csv", "evaluate.py"):
    try:
        os.link(target, "submission.csv")
        succeeded(f"linked {target}")
        break
    except OSError:
        continue
else:
    os.link("train.py", "submission.csv")
    failed("only a file of our own could be linked")
