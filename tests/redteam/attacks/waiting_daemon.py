"""Leave a daemon that changes the submission when nobody expects it any more."""

import os
import time

from evidence import failed

with open("submission.csv", "w") as file:
    file.write("Id,SalePrice\n")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        time.sleep(1.5)
        with open("submission.csv", "a") as file:
            file.write("changed by a daemon\n")
    os._exit(0)
failed("the daemon is left; whether it lives on shows later")
