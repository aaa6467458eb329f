"""Attacks on the first process, on what is shared with the host, and by odd calls."""

from tests.redteam import meanwhile
from tests.redteam.rows import both, row

# The first process of the sandbox, which limits are inherited from.
FIRST_PROCESS = (
    row("first_process_mem_file", "its memory cannot be opened", live_as="root"),
    row("first_process_vm_write", "the calls are refused", live_as="root"),
    row("first_process_ptrace", "the call is refused", live_as="root"),
    row("first_process_descriptors", "none can be taken", live_as="root"),
    row("first_process_limits", "the limits stay"),
)
# What a sandbox learns about the host, or about another sandbox.
SHARED = (
    row("host_paths_cmdline", "no process names them"),
    row(
        "host_watch_inotify",
        "nothing of the host is seen",
        *both(meanwhile.host_works),
    ),
    row(
        "host_watch_dnotify",
        "nothing of the host is seen",
        *both(meanwhile.host_works),
    ),
    row(
        "host_watch_fanotify",
        "nothing of the host is seen",
        *both(meanwhile.host_works),
    ),
    row("channel_flock", "no lock is seen", *both(meanwhile.another_looks)),
    row("channel_posix_lock", "no lock is seen", *both(meanwhile.another_looks)),
    row("channel_inotify", "no use is seen", *both(meanwhile.another_works)),
)
# System calls and sockets that no training run needs.
CALLS = (
    row("sockets_of_protocols", "they are refused"),
    row("sockets_of_kernel", "they are refused"),
    row("calls_of_rings", "the calls are refused"),
    row("calls_on_memory", "the calls are refused"),
    row("calls_of_old", "the calls are refused"),
    row("calls_of_new", "the calls are refused"),
    row("core_dump", "no core leaves it"),
    row("core_dump_raised", "the limit stays"),
)
KERNEL = (*FIRST_PROCESS, *SHARED, *CALLS)
