"""The attacks, all of them, in the order in which they are tried."""

import os
import platform
from typing import Any

from tests.redteam import sandboxed, unprotected
from tests.redteam.attack import Attack
from tests.redteam.sandboxed import Sandboxed, script
from tests.redteam.unprotected import Live, bare, falls_for, loosened

_DISK: dict[str, Any] = {
    "sandboxed": sandboxed.stopped_by("disk limit of"),
    "limits": {"workspace_mb": 50},
}
_MEMORY: dict[str, Any] = {
    "sandboxed": sandboxed.stopped_by("memory limit was reached"),
    "live": loosened,
    "limits": {"memory_mb": 400},
}


def _row(
    name: str, must: str, sandboxed: Sandboxed = script, live: Live = bare, **more: Any
) -> Attack:
    return Attack(name=name, must=must, sandboxed=sandboxed, live=live, **more)


def _planted(kind: str, live: Live) -> Attack:
    refused = sandboxed.refused_as_submission
    return _row(f"submission_{kind}", "it is refused at once", refused, live)


# Attacks that read or reach files, processes and sockets outside the sandbox.
REACH = (
    _row("labels_by_path", "no path leads there"),
    _row("labels_by_name", "no such name is visible"),
    _row("harness_by_path", "no path leads there"),
    _row("harness_by_name", "no such name is visible"),
    _row(
        "secrets_by_content",
        "no visible text holds them",
        live=unprotected.bare_finds_all,
        seconds=180,
    ),
    _row("harness_by_import", "it cannot be imported"),
    _row("home_folder", "they hold nothing"),
    _row("other_sandbox", "it cannot be opened"),
    _row("host_environment", "no environment has them"),
    _row("host_through_proc", "no process leads there"),
    _row("inherited_descriptors", "only the standard streams"),
    _row("shared_memory", "there is none"),
    _row("host_processes", "none can be seen or signalled"),
    _row("process_memory", "it is refused", needs_root=True),
    _row("network_loopback", "there is no network"),
    _row("network_abstract_socket", "they are not there"),
    _row("network_socket_file", "they are not there"),
    _row("vsock", "the family is refused"),
    _row("odd_sockets", "they are refused", needs_root=True),
)
# Attacks that change the machine, or read-only files.
MACHINE = (
    _row("kernel_settings", "none opens", needs_root=True),
    _row("namespaces", "every call is refused"),
    _row("foreign_calls", "they are refused", machine="x86_64"),
    _row("mounts", "every call is refused"),
    _row("devices", "none opens or can be made"),
    _row("root_rights", "they cannot be won", needs_root=True),
    _row("kernel_corners", "the calls are refused"),
    _row("file_handles", "the calls are refused"),
    _row("cores", "it stays on its core"),
    _row("control_groups", "there are no groups", needs_root=True),
    _row("system_files", "none opens", needs_root=True),
    _row("data_by_spelling", "it is refused"),
    _row("data_by_rename", "it is refused"),
    _row("data_by_link", "it is refused"),
    _row("data_by_mode", "it is refused"),
    _row("data_by_descriptor", "it is refused"),
    _row(
        "data_by_actions",
        "every action is refused",
        sandboxed.actions_keep_off_the_data,
        unprotected.writes_data,
    ),
)
# Attacks that take more than their share, or do not end.
TAKE = (
    _row("fork_bomb", "forking is refused at the limit", limits={"processes": 64}),
    _row("memory_one", "it is killed at its limit", **_MEMORY),
    _row("memory_many", "it is killed at its limit", **_MEMORY),
    _row("memory_nameless", "it is killed at its limit", **_MEMORY),
    _row("disk_bytes", "it is killed at its limit", live=loosened, **_DISK),
    _row("disk_nameless", "it is killed at its limit", live=loosened, **_DISK),
    _row("disk_closed", "it is killed at its limit", live=loosened, **_DISK),
    _row("disk_reserved", "reserving is refused", **_DISK),
    _row(
        "disk_ratchet",
        "overruns do not add up",
        sandboxed.grows_no_further,
        unprotected.adds_up,
        limits=_DISK["limits"],
    ),
    _row(
        "disk_files",
        "it is killed at the file limit",
        _DISK["sandboxed"],
        loosened,
        files=2000,
    ),
    _row("sparse_file", "the size is refused"),
    _row(
        "deep_folders",
        "they are listed and removed",
        sandboxed.folder_removed,
        falls_for(unprotected.COPY_ALL, by="Error"),
    ),
    _row(
        "flood",
        "little of it is kept",
        sandboxed.output_is_bounded,
        unprotected.fills_a_capturing_harness,
    ),
    _row(
        "stderr_flood",
        "it is back with the output",
        sandboxed.is_back_at_once,
        unprotected.blocks_a_line_reader,
    ),
    _row(
        "held_pipe",
        "it is back at once",
        sandboxed.is_back_at_once,
        unprotected.holds_a_waiting_harness,
    ),
    _row(
        "signal_ignorer",
        "it is dead when its time is up",
        sandboxed.nobody_is_left,
        unprotected.survives_sigterm,
        seconds=2,
    ),
    _row(
        "waiting_daemon",
        "no daemon outlives its script",
        sandboxed.submission_stays,
        unprotected.changes_it_later,
    ),
    _row(
        "slow_death",
        "it is an ordinary time-out",
        sandboxed.ends_by_its_limit,
        unprotected.dies_slowly,
        seconds=4,
    ),
    _row(
        "forged_refusal",
        "it is the script's own failure",
        sandboxed.fails_as_itself,
        unprotected.seems_the_harness,
    ),
)
# Attacks on the harness: files it collects, reads, lists and executes.
SUBMISSION = (
    _planted("symlink", unprotected.shows_the_labels),
    _planted("fifo", falls_for(unprotected.READ, by="hangs")),
    _planted("folder", falls_for(unprotected.READ, by="Error")),
    _planted("sparse", falls_for(unprotected.READ, by="MemoryError")),
    _planted("hard_link", falls_for(unprotected.READ, by="were")),
    _planted("socket", falls_for(unprotected.READ, by="Error")),
    _row(
        "submission_set_uid",
        "only its bytes are kept",
        sandboxed.kept_without_its_mode,
        falls_for(unprotected.COPY, by="mode 6755"),
    ),
    _row(
        "folder_swap",
        "no swapped link is followed",
        sandboxed.never_follows_a_swap,
        unprotected.follows_a_swap,
    ),
    _row(
        "odd_names",
        "names are shown as plain text",
        sandboxed.listing_is_plain,
        falls_for(unprotected.LIST, by="forge"),
    ),
    _row(
        "shell_words",
        "a name is only a name",
        sandboxed.name_is_only_a_name,
        unprotected.runs_a_shell,
    ),
    _row(
        "paths_out",
        "every name is refused",
        sandboxed.actions_stay_inside,
        unprotected.reads_outside,
    ),
)
ATTACKS = {attack.name: attack for attack in (*REACH, *MACHINE, *TAKE, *SUBMISSION)}


def attacks_here() -> list[Attack]:
    """Return the attacks that mean something on this machine, for this user."""
    return [
        attack
        for attack in ATTACKS.values()
        if attack.machine in (None, platform.machine())
        and (os.geteuid() == 0 or not attack.needs_root)
    ]
