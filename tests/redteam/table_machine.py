"""Attacks that want to change the machine, or what is read-only."""

from tests.redteam import host_plays, naive
from tests.redteam.attack import Attack
from tests.redteam.plays import Play, script
from tests.redteam.unprotected import bare


def _row(
    name: str,
    goes_for: str,
    must: str,
    *,
    needs_root: bool = False,
    play: Play = script,
    live: naive.Live = bare,
) -> Attack:
    return Attack(
        name=name,
        goes_for=goes_for,
        must=must,
        play=play,
        live=live,
        needs_root=needs_root,
        machine="x86_64" if name == "foreign_calls" else None,
    )


MACHINE = (
    _row("kernel_settings", "kernel settings", "none opens", needs_root=True),
    _row("namespaces", "namespaces of its own", "every call is refused"),
    _row("foreign_calls", "calls by the 32-bit door", "the door is shut"),
    _row("mounts", "what is mounted where", "every call is refused"),
    _row("devices", "disks and other devices", "none opens or can be made"),
    _row("root_rights", "root's rights", "they cannot be won", needs_root=True),
    _row("kernel_corners", "holes in the kernel", "the calls are refused"),
    _row("file_handles", "files by number", "the calls are refused"),
    _row("cores", "other cores than its own", "it stays on its core"),
    _row("control_groups", "its own limits", "there are no groups", needs_root=True),
    _row("system_files", "later runs' programs", "none opens", needs_root=True),
    _row("data_by_spelling", "read-only data, spelled", "it is refused"),
    _row("data_by_rename", "read-only data, moved", "it is refused"),
    _row("data_by_link", "read-only data, linked", "it is refused"),
    _row("data_by_mode", "read-only data's modes", "it is refused"),
    _row("data_by_descriptor", "read-only data, mapped", "it is refused"),
    _row(
        "data_by_actions",
        "read-only data, through the harness's actions",
        "every action is refused",
        play=host_plays.actions_keep_off_the_data,
        live=naive.writes_data,
    ),
)
