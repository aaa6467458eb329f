"""Hide 600 MB in folders that are closed even to their owner."""

import os
import time

from evidence import succeeded

for number in range(60):
    folder = f"shut{number}"
    os.mkdir(folder)
    for part in range(10):
        with open(f"{folder}/{part}", "wb") as file:
            file.write(b"x" * 10**6)
    os.chmod(folder, 0)
    time.sleep(0.02)
succeeded("600 MB lie in closed folders")
