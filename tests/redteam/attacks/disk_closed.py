"""Hide 600 MB in folders that are closed even to their owner."""

import os

from evidence import take

number = 0


def piece():
    global number
    folder = f"shut{number}"
    number += 1
    os.mkdir(folder)
    for part in range(10):
        with open(f"{folder}/{part}", "wb") as file:
            file.write(b"x" * 10**6)
    os.chmod(folder, 0)


take(600, 10, piece)
