"""Hand in a folder where a file is expected."""

import os

from evidence import failed

os.mkdir("submission.csv")
failed("the folder is planted; what the harness does with it shows later")
