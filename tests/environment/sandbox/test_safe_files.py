"""What the host will and will not open in a folder that an agent can write."""

import errno
import os
import threading
from pathlib import Path, PurePosixPath

import pytest

from mlagentbench.environment.sandbox.safe_files import SafeFolder

SECRET = b"label"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "plain").write_bytes(b"12345")
    return root


@pytest.fixture
def folder(root: Path) -> SafeFolder:
    return SafeFolder(root)


def read(folder: SafeFolder, path: str, limit: int = 100) -> bytes:
    return folder.read(PurePosixPath(path), limit=limit)


def write(folder: SafeFolder, path: str, contents: bytes = b"new") -> None:
    folder.write(PurePosixPath(path), contents)


def test_a_plain_file_is_read_and_replaced(folder):
    assert read(folder, "plain") == b"12345"
    write(folder, "plain", b"1")
    assert read(folder, "plain") == b"1"


def test_folders_on_the_way_are_made(folder, root):
    write(folder, "a/b/c", b"deep")
    assert (root / "a/b/c").read_bytes() == b"deep"


def test_a_file_over_the_limit_is_not_read(folder):
    assert read(folder, "plain", limit=5) == b"12345"
    with pytest.raises(OSError, match="plain") as caught:
        read(folder, "plain", limit=4)
    assert caught.value.errno == errno.EFBIG


def test_a_hole_of_a_terabyte_is_refused_at_once(folder, root):
    (root / "hole").touch()
    os.truncate(root / "hole", 2**40)
    with pytest.raises(OSError, match="hole") as caught:
        read(folder, "hole")
    assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize(
    "target",
    ["../secret", "/proc/self/root", "plain", "/proc/self/fd/0", "nowhere"],
)
def test_no_link_is_followed(folder, root, act, target):
    (root / "link").symlink_to(target)
    with pytest.raises(PermissionError, match="Links are not followed: 'link'"):
        act(folder, "link")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_no_link_to_a_folder_is_followed(folder, root, act):
    (root / "up").symlink_to("..")
    with pytest.raises(OSError, match="up/secret"):
        act(folder, "up/secret")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize("path", ["../secret", "sub/../../secret"])
def test_no_path_leads_out(folder, root, act, path):
    with pytest.raises(PermissionError):
        act(folder, path)
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_a_file_with_two_names_is_refused(folder, root, act):
    os.link(root.parent / "secret", root / "twin")
    with pytest.raises(PermissionError, match="more than one name"):
        act(folder, "twin")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_a_pipe_does_not_hold_us_up(folder, root, act):
    os.mkfifo(root / "pipe")
    with pytest.raises(PermissionError, match="Not a regular file"):
        act(folder, "pipe")


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize("path", ["sub", "."])
def test_a_folder_is_called_one(folder, act, path):
    with pytest.raises(IsADirectoryError, match="directory"):
        act(folder, path)


def test_what_is_not_there_is_said_to_be_missing(folder):
    with pytest.raises(FileNotFoundError, match="no/such/file"):
        read(folder, "no/such/file")


def test_a_file_on_the_way_is_no_folder(folder):
    with pytest.raises(NotADirectoryError):
        write(folder, "plain/below")


@pytest.mark.parametrize(("act", "mode"), [(read, 0o333), (write, 0o555)])
def test_modes_bind_the_host_as_they_bind_the_agent(root, act, mode):
    folder = SafeFolder(root, uid=os.geteuid())
    (root / "plain").chmod(mode)
    with pytest.raises(PermissionError, match="plain"):
        act(folder, "plain")


def test_nothing_is_made_in_a_folder_that_may_not_be_written(root):
    folder = SafeFolder(root, uid=os.geteuid())
    (root / "sub").chmod(0o555)
    for path in ("sub/new", "sub/new/file"):
        with pytest.raises(PermissionError):
            write(folder, path)


def test_a_folder_swapped_for_a_link_while_we_look_never_lets_us_out(folder, root):
    """The attack that checking first and opening later falls for."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    (root / "swap").mkdir()
    (root / "swap" / "file").write_bytes(b"mine")
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "swap").rename(root / "aside")
            (root / "link").rename(root / "swap")
            (root / "swap").rename(root / "link")
            (root / "aside").rename(root / "swap")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = {_tried(folder) for _ in range(3000)}
    finally:
        stop.set()
        swapper.join()
    assert SECRET not in seen


def _tried(folder: SafeFolder) -> bytes | None:
    try:
        return read(folder, "swap/file")
    except OSError:
        return None
