"""Build folders too deep for any path to reach, and leave a file at the bottom."""

import os

from evidence import failed

for _ in range(60):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
with open("bottom", "w") as file:
    file.write("x")
failed("the folders are planted; whether they can be removed shows later")
