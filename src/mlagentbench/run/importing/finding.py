"""Finding the runs below a folder: wherever there is an `env_log`."""

from mlagentbench.run.importing.reading import LogTree

_DEEPEST = 12
_MOST_FOLDERS = 100_000


def find_runs(tree: LogTree) -> list[str]:
    """Return the folder of every run, in order; what lies inside one is its own."""
    runs: list[str] = []
    waiting = [""]
    looked_at = 0
    while waiting:
        if (looked_at := looked_at + 1) > _MOST_FOLDERS:
            tree.warn(".", f"more than {_MOST_FOLDERS:,} folders; the rest is left out")
            break
        path = waiting.pop()
        inside = _folders(tree, path)
        if "env_log" in inside:
            runs.append(path)
        elif path.count("/") < _DEEPEST:
            waiting += [joined(path, name) for name in inside]
        elif inside:
            tree.warn(path, "nested too deeply; what lies below is left out")
    return sorted(runs)


def joined(folder: str, name: str) -> str:
    """Name something in a folder, where the empty name is the topmost."""
    return f"{folder}/{name}" if folder else name


def _folders(tree: LogTree, path: str) -> list[str]:
    entries = tree.entries(path)
    for entry in entries:
        if entry.is_link:
            tree.warn(joined(path, entry.name), "a link; not followed")
    return [entry.name for entry in entries if entry.is_folder]
