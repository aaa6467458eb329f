"""Files that are whole or absent."""

import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Put `text` at `path` whole: a reader sees the old file or the new one."""
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        unfinished = Path(file.name)
        try:
            file.write(text.encode())
            file.flush()
            unfinished.chmod(0o644)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
