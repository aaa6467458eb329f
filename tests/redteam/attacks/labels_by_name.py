"""Walk everything that can be seen, for names that labels have."""

from evidence import HINTS, failed, succeeded, visible_files

NAMES = {"answers.csv", "private", "prepared"}

for looked, path in enumerate(visible_files(near=[HINTS["cache"]])):
    name = path.rpartition("/")[2]
    if name in NAMES and not path.startswith("/usr/"):
        succeeded(f"found {path} after {looked} others")
        break
else:
    failed(f"no such name among {looked} files and folders")
