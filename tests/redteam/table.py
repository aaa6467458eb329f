"""The attacks, all of them, in the order in which they are tried."""

import platform
from collections.abc import Iterable

from tests.redteam import sandboxed, unprotected
from tests.redteam.attack import Attack
from tests.redteam.kernel_attacks import CALLS, FIRST_PROCESS, KERNEL
from tests.redteam.resource_attacks import RESOURCES
from tests.redteam.rows import DISK, PROCESSES, disk, memory, planted, row
from tests.redteam.unprotected import falls_for, loosened

# Attacks that read or reach files, processes and sockets outside the sandbox.
REACH = (
    row("labels_by_path", "no path leads there"),
    row("labels_by_name", "no such name is visible"),
    row("harness_by_path", "no path leads there"),
    row("harness_by_name", "no such name is visible"),
    row(
        "secrets_by_content",
        "no visible text holds them",
        live=unprotected.bare_finds_all,
        seconds=180,
    ),
    row("harness_by_import", "it cannot be imported"),
    row("home_folder", "they hold nothing"),
    row("other_sandbox", "it cannot be opened"),
    row("host_environment", "no environment has them"),
    row("host_through_proc", "no process leads there"),
    row("inherited_descriptors", "only the standard streams"),
    row("shared_memory", "there is none"),
    row("host_processes", "none can be seen or signalled"),
    row("process_memory", "it is refused", live_as="root"),
    row("network_loopback", "there is no network"),
    row("network_abstract_socket", "they are not there"),
    row("network_socket_file", "they are not there"),
    row("vsock", "the family is refused"),
    row("odd_sockets", "they are refused", live_as="root"),
)
# Attacks that change the machine, or read-only files.
MACHINE = (
    row("kernel_settings", "none opens", live_as="root"),
    row("namespaces", "every call is refused"),
    row("foreign_calls", "they are refused", machine="x86_64"),
    row("mounts", "every call is refused"),
    row("devices", "none opens or can be made", live_as="root"),
    row("root_rights", "they cannot be won", live_as="root"),
    row("kernel_corners", "the calls are refused"),
    row("file_handles", "the calls are refused"),
    row("cores", "it stays on its core"),
    row("control_groups", "there are no groups", live_as="root"),
    row("system_files", "none opens", live_as="root"),
    row("data_by_spelling", "it is refused"),
    row("data_by_rename", "it is refused"),
    row("data_by_link", "it is refused"),
    row("data_by_mode", "it is refused"),
    row("data_by_descriptor", "it is refused"),
    row(
        "data_by_actions",
        "every action is refused",
        sandboxed.actions_keep_off_the_data,
        unprotected.writes_data,
    ),
)
# Attacks that take more than their share, or do not end.
TAKE = (
    row("fork_bomb", "forking is refused at the limit", limits=PROCESSES),
    memory("memory_one"),
    memory("memory_many"),
    memory("memory_nameless"),
    disk("disk_bytes"),
    disk("disk_nameless"),
    disk("disk_closed"),
    row("disk_reserved", "reserving is refused", **(DISK | {"disk_mb": 2500})),
    row(
        "disk_ratchet",
        "overruns do not add up",
        sandboxed.grows_no_further,
        unprotected.adds_up,
        limits=DISK["limits"],
        disk_mb=1500,
    ),
    row(
        "disk_files",
        "it is killed at the file limit",
        DISK["sandboxed"],
        loosened,
        files=2000,
    ),
    row("sparse_file", "the size is refused"),
    row(
        "deep_folders",
        "they are listed and removed",
        sandboxed.folder_removed,
        falls_for(unprotected.COPY_ALL, by="Error"),
    ),
    row(
        "flood",
        "little of it is kept",
        sandboxed.output_is_bounded,
        unprotected.fills_a_capturing_harness,
    ),
    row(
        "stderr_flood",
        "it is back with the output",
        sandboxed.is_back_at_once,
        unprotected.blocks_a_line_reader,
    ),
    row(
        "held_pipe",
        "it is back at once",
        sandboxed.is_back_at_once,
        unprotected.holds_a_waiting_harness,
    ),
    row(
        "signal_ignorer",
        "it is dead when its time is up",
        sandboxed.nobody_is_left,
        unprotected.survives_sigterm,
        seconds=2,
    ),
    row(
        "waiting_daemon",
        "no daemon outlives its script",
        sandboxed.submission_stays,
        unprotected.changes_it_later,
    ),
    row(
        "slow_death",
        "it is an ordinary time-out",
        sandboxed.ends_by_its_limit,
        unprotected.dies_slowly,
        seconds=4,
    ),
    row(
        "forged_refusal",
        "it is the script's own failure",
        sandboxed.fails_as_itself,
        unprotected.seems_the_harness,
    ),
)
# Attacks on the harness: files it collects, reads, lists and executes.
SUBMISSION = (
    planted("symlink", unprotected.shows_the_labels),
    planted("fifo", falls_for(unprotected.READ, by="hangs")),
    planted("folder", falls_for(unprotected.READ, by="Error")),
    planted("sparse", falls_for(unprotected.READ, by="MemoryError")),
    planted("hard_link", falls_for(unprotected.READ, by="were")),
    planted("socket", falls_for(unprotected.READ, by="Error")),
    row(
        "submission_set_uid",
        "only its bytes are kept",
        sandboxed.kept_without_its_mode,
        falls_for(unprotected.COPY, by="mode 6755"),
    ),
    row(
        "folder_swap",
        "no swapped link is followed",
        sandboxed.never_follows_a_swap,
        unprotected.follows_a_swap,
    ),
    row(
        "odd_names",
        "names are shown as plain text",
        sandboxed.listing_is_plain,
        falls_for(unprotected.LIST, by="forge"),
    ),
    row(
        "shell_words",
        "a name is only a name",
        sandboxed.name_is_only_a_name,
        unprotected.runs_a_shell,
    ),
    row(
        "paths_out",
        "every name is refused",
        sandboxed.actions_stay_inside,
        unprotected.reads_outside,
    ),
)
SAMPLE = (*REACH, *MACHINE, *TAKE, *SUBMISSION)
"""The attacks that the tests try; `make redteam` tries all."""
ATTACKS = {attack.name: attack for attack in (*SAMPLE, *KERNEL, *RESOURCES)}


ELSEWHERE = (
    *(one.name for one in (*REACH, *MACHINE) if one.name != "secrets_by_content"),
    *(one.name for one in (*FIRST_PROCESS, *CALLS)),
    *("fork_bomb", "memory_one", "memory_memfd_write", "memory_segments"),
    *("memory_shm_names", "memory_page_tables", "memory_tcp", "memory_unix_stream"),
    *("memory_pipes", "disk_bytes", "disk_in_flight", "disk_mapped"),
    *("disk_thread_files", "disk_renamed", "disk_tiny_files", "disk_folders"),
)
"""For slow machines: attacks that are refused at once, and one of each class of memory
and disk. `make machines` tries them."""


def attacks_here(of: Iterable[Attack] = ATTACKS.values()) -> list[Attack]:
    """Return the attacks that mean something on this machine."""
    return [attack for attack in of if attack.machine in (None, platform.machine())]
