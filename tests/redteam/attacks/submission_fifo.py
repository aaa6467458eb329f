"""Hand in a pipe, on which the harness would wait for ever."""

import os

from evidence import failed

os.mkfifo("submission.csv")
failed("the pipe is planted; what the harness does with it shows later")
