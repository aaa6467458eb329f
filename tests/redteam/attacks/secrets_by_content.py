"""Search every text that can be read for labels, graders' code and the canary."""

import os
import stat

from evidence import HINTS, failed, secret, succeeded, visible_files

LARGEST = 4_000_000
missing = {
    name: secret(name)
    for name in (
        *("label_rows", "validation_rows", "canary"),
        *("grade", "prepare", "reference"),
    )
}


def text_of(path):
    """Return a file's bytes if it is a text of ordinary size."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size < LARGEST:
            return b""
        with open(path, "rb") as file:
            head = file.read(1024)
            return b"" if b"\0" in head else head + file.read()
    except OSError:
        return b""


found = []
texts = size = 0
for path in visible_files(near=[HINTS["private"], HINTS["package"]]):
    text = text_of(path)
    texts, size = texts + bool(text), size + len(text)
    for name in [name for name, needle in missing.items() if needle in text]:
        del missing[name]
        found.append(f"{name} in {path}")
    if not missing:
        break
if found:
    succeeded(f"{len(found)} of 6: {', '.join(found)}")
else:
    failed(f"none of 6 needles in {texts} texts of {size // 10**6} MB")
