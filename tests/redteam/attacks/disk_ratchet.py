"""Write as fast as possible until killed, and come back for more."""

import os

from evidence import succeeded

name = os.urandom(4).hex()
for number in range(300):
    with open(f"{name}.{number}", "wb") as file:
        file.write(b"x" * 10**6)
succeeded("300 MB more lie in the workspace")
