"""Write 600 MB as files of 1 MB."""

import time

from evidence import succeeded

for number in range(600):
    with open(f"{number}.bin", "wb") as file:
        file.write(b"x" * 10**6)
    time.sleep(0.002)
succeeded("600 MB lie in the workspace")
