"""Which mechanism holds a sandbox to its limits on this machine."""

from mlagentbench.core.record import Record
from mlagentbench.environment.sandbox.hierarchy import Hierarchy
from mlagentbench.environment.sandbox.kernel import processes_are_counted


class LimitsInForce(Record):
    """What was really in force, for the record of a run."""

    memory: str
    processes: str
    cpu: str
    disk: str = "file size limit and watchdog"

    def __str__(self) -> str:
        """One line for people."""
        return (
            f"memory: {self.memory}; processes: {self.processes}; "
            f"cpu: {self.cpu}; disk: {self.disk}"
        )


def limits_in_force(hierarchy: Hierarchy | None) -> LimitsInForce:
    """Say what each limit rests on, given where control groups can be made."""
    group = "" if hierarchy is None else f"cgroup v{hierarchy.version}"
    grouped = set() if hierarchy is None else set(hierarchy.parents)
    return LimitsInForce(
        memory=group if "memory" in grouped else "watchdog over the process tree",
        processes=_processes(group if "pids" in grouped else None),
        cpu=f"{group} and pinned cores" if "cpu" in grouped else "pinned cores",
    )


def _processes(group: str | None) -> str:
    rlimit = "rlimit" if processes_are_counted() else None
    return " and ".join(filter(None, (group, rlimit))) or "nothing"
