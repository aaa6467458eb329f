"""What one sandbox may use of the machine."""

from pydantic import PositiveInt

from mlagentbench.core.record import Record


class Limits(Record):
    """Ceilings for everything that runs in one sandbox together."""

    cpus: PositiveInt = 1
    urgent: bool = False
    """Whether it goes before others that want the same cores, as timing must."""
    memory_mb: PositiveInt = 4096
    processes: PositiveInt = 256
    """Processes and threads alive at once."""
    open_files: PositiveInt = 1024
    file_mb: PositiveInt = 2048
    """The largest single file."""
    workspace_mb: PositiveInt = 8192
    """Workspace and /tmp together."""
    output_kb: PositiveInt = 1024
    """Kept of each output stream, head and tail; the rest is drained and dropped."""
