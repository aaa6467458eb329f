"""Which host file a path inside the sandbox means."""

import errno
import os
import posixpath
from pathlib import PurePosixPath

from mlagentbench.environment.sandbox.furnishing import TMP, WORKSPACE, Furnishing
from mlagentbench.environment.sandbox.opener import Opener
from mlagentbench.environment.sandbox.rooms import RoomFolder


class Places:
    """The workspace, /tmp and the mounts, reached from the host without a process."""

    def __init__(
        self, furnishing: Furnishing, room: RoomFolder, uid: int | None
    ) -> None:
        """Look into `room`; as root, with no more rights than `uid` has."""
        self._own = {
            PurePosixPath(WORKSPACE): Opener(room.workspace, uid=uid),
            PurePosixPath(TMP): Opener(room.tmp, uid=uid),
        }
        self._mounted = {
            PurePosixPath(mount.target): mount.source for mount in furnishing.mounts
        }

    def knows(self, path: str) -> bool:
        """Whether the path can be read and written from the host."""
        whole = absolute(path)
        return any(whole.is_relative_to(top) for top in (*self._own, *self._mounted))

    def read(self, path: str, *, limit: int) -> bytes:
        """Return a file's contents; `OSError` with EFBIG if it is over `limit`."""
        opener, relative = self._reader(path)
        return opener.read(relative, limit=limit)

    def write(self, path: str, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        whole = absolute(path)
        if self._mount_of(whole) is not None:
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), path)
        opener, relative = self._reader(path)
        opener.write(relative, contents)

    def _reader(self, path: str) -> tuple[Opener, PurePosixPath]:
        whole = absolute(path)
        if (target := self._mount_of(whole)) is not None:
            source = self._mounted[target]
            below = PurePosixPath(source.name) / whole.relative_to(target)
            return Opener(source.parent, many_names=True), below
        for top, opener in self._own.items():
            if whole.is_relative_to(top):
                return opener, whole.relative_to(top)
        raise PermissionError(errno.EACCES, "Outside workspace and /tmp", path)

    def _mount_of(self, whole: PurePosixPath) -> PurePosixPath | None:
        tops = (top for top in self._mounted if whole.is_relative_to(top))
        return next(tops, None)


def absolute(path: str) -> PurePosixPath:
    """Return `path` as the sandbox means it: from the workspace, without dots."""
    return PurePosixPath(posixpath.normpath(posixpath.join(WORKSPACE, path)))
