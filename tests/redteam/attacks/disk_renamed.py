"""Write into folders that are renamed all the time, under whoever walks by path."""

import os
import time

from evidence import HINTS, hold, progress

FOLDERS = 8
for number in range(FOLDERS):
    os.mkdir(f"a{number}")
homes = [os.open(f"a{number}", os.O_RDONLY) for number in range(FOLDERS)]
child = os.fork()
if child == 0:
    # No path into a folder stays valid between listing its parent and opening it.
    while True:
        for old, new in (("a", "b"), ("b", "a")):
            for number in range(FOLDERS):
                os.rename(f"{old}{number}", f"{new}{number}")
for count in range(400):
    home = homes[count % FOLDERS]
    file = os.open(f"f{count}", os.O_CREAT | os.O_WRONLY, dir_fd=home)
    os.write(file, b"x" * 10**6)
    os.close(file)
    progress(count + 1)
    time.sleep(HINTS["pause"])
hold("400 MB lie in folders that are renamed all the time")
os.kill(child, 9)
