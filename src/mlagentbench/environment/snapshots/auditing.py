"""Is everything there that snapshots name, and nothing that no run needs?"""

from collections.abc import Iterable

from mlagentbench.core.errors import RecordError
from mlagentbench.core.record import Record
from mlagentbench.environment.snapshots.holds import Holds
from mlagentbench.environment.snapshots.manifest import Entry, Manifests
from mlagentbench.environment.snapshots.objects import Objects
from mlagentbench.environment.snapshots.place import Place

_NAMED_AT_MOST = 5


class Pruned(Record):
    """What pruning removed."""

    objects: int
    bytes: int


def verify(place: Place) -> list[str]:
    """Hash every object; name what is wrong and who needs it."""
    objects, manifests = Objects(place), Manifests(place.manifests)
    # Listed first: others may add meanwhile, objects always before their manifest.
    names = manifests.names()
    sound = {name: objects.is_sound(name) for name in objects.names()}
    needed: dict[str, list[str]] = {
        name: [] for name, is_sound in sound.items() if not is_sound
    }
    complaints = []
    for name in names:
        try:
            entries = manifests.read(name).entries
        except RecordError as error:
            complaints.append(str(error))
            continue
        for entry in entries:
            if entry.sha256 is not None and not _is_fine(entry, sound):
                needing = needed.setdefault(entry.sha256, [])
                needing.append(f"{entry.shown} of snapshot {name[:12]}")
    return complaints + [
        f"{objects.path(sha256)} is {'corrupt' if sha256 in sound else 'missing'}; "
        f"{_list(needing)}"
        for sha256, needing in sorted(needed.items())
    ]


def _is_fine(entry: Entry, sound: dict[str, bool]) -> bool:
    return sound.get(entry.sha256 or "", entry.dropped is not None)


def _list(needing: list[str]) -> str:
    if not needing:
        return "no snapshot needs it"
    more = len(needing) - _NAMED_AT_MOST
    tail = [f"{more} more"] if more > 0 else []
    return f"it is needed by {', '.join(needing[:_NAMED_AT_MOST] + tail)}"


def prune(place: Place, needed: Iterable[str]) -> Pruned:
    """Remove all that the `needed` snapshots do without."""
    objects, manifests = Objects(place), Manifests(place.manifests)
    holds = Holds(place.holds, "")
    names = set(needed)
    kept = {
        entry.sha256
        for name in names
        for entry in manifests.entries(name)
        if entry.sha256 and not (entry.dropped and not holds.any_for(entry.sha256))
    }
    place.begin_removal()
    for name in set(manifests.names()) - names:
        manifests.remove(name)
    for unfinished in place.incoming.iterdir():
        unfinished.unlink()
    sizes = []
    for sha256 in set(objects.names()) - kept:
        holds.forget(sha256)
        sizes.append(objects.remove(sha256))
    return Pruned(objects=len(sizes), bytes=sum(sizes))
