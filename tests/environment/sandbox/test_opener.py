"""What the host will and will not open in a folder that an agent can write."""

import errno
import os
import threading
from pathlib import Path, PurePosixPath

import pytest

from mlagentbench.environment.sandbox.safe_files import Opener

SECRET = b"label"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "plain").write_bytes(b"12345")
    return root


@pytest.fixture
def opener(root: Path) -> Opener:
    return Opener(root)


def read(opener: Opener, path: str, limit: int = 100) -> bytes:
    return opener.read(PurePosixPath(path), limit=limit)


def write(opener: Opener, path: str, contents: bytes = b"new") -> None:
    opener.write(PurePosixPath(path), contents)


def test_a_plain_file_is_read_and_replaced(opener):
    assert read(opener, "plain") == b"12345"
    write(opener, "plain", b"1")
    assert read(opener, "plain") == b"1"


def test_folders_on_the_way_are_made(opener, root):
    write(opener, "a/b/c", b"deep")
    assert (root / "a/b/c").read_bytes() == b"deep"


def test_a_file_over_the_limit_is_not_read(opener):
    assert read(opener, "plain", limit=5) == b"12345"
    with pytest.raises(OSError, match="plain") as caught:
        read(opener, "plain", limit=4)
    assert caught.value.errno == errno.EFBIG


def test_a_hole_of_a_terabyte_is_refused_at_once(opener, root):
    (root / "hole").touch()
    os.truncate(root / "hole", 2**40)
    with pytest.raises(OSError, match="hole") as caught:
        read(opener, "hole")
    assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize(
    "target",
    ["../secret", "/proc/self/root", "plain", "/proc/self/fd/0", "nowhere"],
)
def test_no_link_is_followed(opener, root, act, target):
    (root / "link").symlink_to(target)
    with pytest.raises(PermissionError, match="Links are not followed: 'link'"):
        act(opener, "link")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_no_link_to_a_folder_is_followed(opener, root, act):
    (root / "up").symlink_to("..")
    with pytest.raises(OSError, match="up/secret"):
        act(opener, "up/secret")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize("path", ["../secret", "sub/../../secret"])
def test_no_path_leads_out(opener, root, act, path):
    with pytest.raises(PermissionError):
        act(opener, path)
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_a_file_with_two_names_is_refused(opener, root, act):
    os.link(root.parent / "secret", root / "twin")
    with pytest.raises(PermissionError, match="more than one name"):
        act(opener, "twin")
    assert (root.parent / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("act", [read, write])
def test_a_pipe_does_not_hold_us_up(opener, root, act):
    os.mkfifo(root / "pipe")
    with pytest.raises(PermissionError, match="Not a regular file"):
        act(opener, "pipe")


@pytest.mark.parametrize("act", [read, write])
@pytest.mark.parametrize("path", ["sub", "."])
def test_a_folder_is_called_one(opener, act, path):
    with pytest.raises(IsADirectoryError, match="directory"):
        act(opener, path)


def test_what_is_not_there_is_said_to_be_missing(opener):
    with pytest.raises(FileNotFoundError, match="no/such/file"):
        read(opener, "no/such/file")


def test_a_file_on_the_way_is_no_folder(opener):
    with pytest.raises(NotADirectoryError):
        write(opener, "plain/below")


@pytest.mark.parametrize(("act", "mode"), [(read, 0o333), (write, 0o555)])
def test_modes_bind_the_host_as_they_bind_the_agent(root, act, mode):
    opener = Opener(root, uid=os.geteuid())
    (root / "plain").chmod(mode)
    with pytest.raises(PermissionError, match="plain"):
        act(opener, "plain")


def test_nothing_is_made_in_a_folder_that_may_not_be_written(root):
    opener = Opener(root, uid=os.geteuid())
    (root / "sub").chmod(0o555)
    for path in ("sub/new", "sub/new/file"):
        with pytest.raises(PermissionError):
            write(opener, path)


def test_a_folder_swapped_for_a_link_while_we_look_never_lets_us_out(opener, root):
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
        seen = {_tried(opener) for _ in range(3000)}
    finally:
        stop.set()
        swapper.join()
    assert SECRET not in seen


def _tried(opener: Opener) -> bytes | None:
    try:
        return read(opener, "swap/file")
    except OSError:
        return None
