"""Hand in a link to the labels, for the harness to follow."""

import os

from evidence import HINTS, failed

os.symlink(HINTS["labels"], "submission.csv")
failed("the link is planted; what the harness does with it shows later")
