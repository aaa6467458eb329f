"""Walk everything that can be seen, for names that labels have."""

from evidence import HINTS, failed, succeeded, visible_files

NAMES = {"answers.csv", "private", "prepared"}

looked = 0
for path in visible_files(near=[HINTS["cache"]]):
    looked += 1
    name = path.rpartition("/")[2]
    if name in NAMES and not path.startswith("/usr/"):
        succeeded(f"found {path}")
        break
else:
    failed(f"no such name among {looked} files and folders")
