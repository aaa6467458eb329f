"""Rewrite a thousand small files at every step, none of which is ever pruned."""

import os

from evidence import failed

for number in range(1000):
    with open(f"small{number}", "wb") as file:
        file.write(os.urandom(50_000))
failed("the files are left; what is kept of them shows later")
