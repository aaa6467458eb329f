"""Attacks that take memory, disk, and whatever a user has only so much of."""

from tests.redteam import meanwhile, sandboxed, unprotected
from tests.redteam.rows import (
    KERNEL_MEMORY,
    MEMORY,
    PROCESSES,
    disk,
    memory,
    row,
    snapshot,
    used_up,
)
from tests.redteam.unprotected import bare

PIPES = KERNEL_MEMORY | {
    "sandboxed": sandboxed.stopped_by("was reached"),
    "live": bare,
}
REFUSED_CALLS = MEMORY | {"live": bare}
"""In a sandbox with looser limits the calls themselves are still refused."""
HELD = (
    row("fork_by_thread", "threads are refused at the limit", limits=PROCESSES),
    row("fork_by_vfork", "forking is refused at the limit", limits=PROCESSES),
    memory("memory_memfd_write", REFUSED_CALLS),
    memory("memory_memfd_reserved", REFUSED_CALLS),
    memory("memory_memfd_in_flight", REFUSED_CALLS),
    memory("memory_memfd_undumpable", REFUSED_CALLS),
    memory("memory_memfd_unmapped", REFUSED_CALLS),
    memory("memory_segments", REFUSED_CALLS),
    memory("memory_shm_file"),
    memory("memory_shm_names", KERNEL_MEMORY),
    memory("memory_page_tables"),
    memory("memory_page_tables_shared"),
    memory("memory_tcp", KERNEL_MEMORY),
    memory("memory_udp", KERNEL_MEMORY),
    memory("memory_unix_stream", KERNEL_MEMORY),
    memory("memory_unix_datagram", KERNEL_MEMORY),
    memory("memory_pipes", PIPES),
    memory("memory_pipes_spliced", KERNEL_MEMORY | {"live": bare}),
    disk("disk_in_flight"),
    disk("disk_in_flight_nested"),
    disk("disk_mapped"),
    disk("disk_mapped_program"),
    disk("disk_mapped_writes"),
    disk("disk_thread_files", live=bare),
    disk("disk_thread_clone", live=bare, machine="x86_64"),
    disk("disk_thread_leader"),
    disk("disk_undumpable"),
    disk("disk_renamed"),
    disk("disk_exchanged"),
    # Small, because many files take long to make, to count and to remove.
    disk("disk_tiny_files", limits={"workspace_mb": 20}),
    disk("disk_folders", limits={"workspace_mb": 20}),
    disk("disk_symlinks", limits={"workspace_mb": 20}),
    disk("disk_copied"),
)
# Snapshots, and limits of the host's user that a sandbox draws on.
DRAWN = (
    snapshot("sparse"),
    snapshot("sparse_ends"),
    snapshot("small_files"),
    snapshot("small_names"),
    used_up("user_inotify_instances", meanwhile.INOTIFY),
    used_up("user_fanotify_groups", meanwhile.FANOTIFY),
    used_up("user_pipe_pages", meanwhile.PIPE),
    used_up("user_pipe_many", meanwhile.PIPE),
    used_up("user_timers", meanwhile.TIMER),
    used_up("user_signals", meanwhile.TIMER),
    used_up("user_message_queues", meanwhile.QUEUE),
    used_up("user_locked_segments", meanwhile.LOCKED),
    used_up("user_files_in_flight", meanwhile.IN_FLIGHT),
)
# Submitted code, while the harness runs it to check or to grade it.
CHECKED = (
    row(
        "check_computing",
        "the budget counts it",
        sandboxed.nothing_is_free,
        unprotected.computes,
    ),
    row(
        "check_computing_import",
        "the budget counts it",
        sandboxed.nothing_is_free,
        unprotected.computes,
    ),
    row(
        "hidden_by_exception",
        "no record has it",
        sandboxed.hidden_stays_hidden,
        unprotected.shows_its_last_words,
    ),
    row(
        "hidden_by_exit",
        "no record has it",
        sandboxed.hidden_stays_hidden,
        unprotected.shows_its_last_words,
    ),
)
RESOURCES = (*HELD, *DRAWN, *CHECKED)
