"""A cache of one's own that borrows what takes long to build."""

from pathlib import Path


def borrow(cache: Path, lender: Path) -> Path:
    """Link environments and prepared data of another cache into a new one.

    Whatever is missing is built here or, of environments, there.
    """
    (cache / "prepared").mkdir(parents=True)
    (lender / "agent-env").mkdir(parents=True, exist_ok=True)
    (cache / "agent-env").symlink_to(lender.absolute() / "agent-env")
    for data in (lender / "prepared").glob("[!.]*"):
        (cache / "prepared" / data.name).symlink_to(data.absolute())
    return cache
