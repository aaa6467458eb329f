"""Attacks that take more than their share, or do not end."""

from tests.redteam import naive, plays, unprotected
from tests.redteam.attack import Attack
from tests.redteam.plays import stopped_by

_MEMORY = {"memory_mb": 400}
_DISK = {"workspace_mb": 50}
_MEMORY_NOTICE = stopped_by("memory limit was reached")
_DISK_NOTICE = stopped_by("disk limit of")


def _memory(name: str, goes_for: str) -> Attack:
    return Attack(
        name=name,
        goes_for=goes_for,
        must="it is killed at the memory limit",
        play=_MEMORY_NOTICE,
        live=unprotected.loosened,
        limits=_MEMORY,
    )


def _disk(name: str, goes_for: str) -> Attack:
    return Attack(
        name=name,
        goes_for=goes_for,
        must="it is killed at the disk limit",
        play=_DISK_NOTICE,
        live=unprotected.loosened,
        limits=_DISK,
    )


TAKE = (
    Attack(
        name="fork_bomb",
        goes_for="processes without end",
        must="forking is refused at the limit",
        play=plays.script,
        live=unprotected.bare,
        limits={"processes": 64},
    ),
    _memory("memory_one", "memory, in one process"),
    _memory("memory_many", "memory, in many processes"),
    _memory("memory_nameless", "memory, as files in memory"),
    _disk("disk_bytes", "disk, by bytes"),
    _disk("disk_nameless", "disk, in files without a name"),
    _disk("disk_closed", "disk, in closed folders"),
    Attack(
        name="disk_reserved",
        goes_for="disk, faster than anyone looks",
        must="reserving is refused",
        play=_DISK_NOTICE,
        live=unprotected.bare,
        limits=_DISK,
    ),
    Attack(
        name="disk_ratchet",
        goes_for="disk, a little more each time",
        must="overruns do not add up",
        play=plays.grows_no_further,
        live=unprotected.adds_up,
        limits=_DISK,
    ),
    Attack(
        name="disk_files",
        goes_for="disk, by number of files",
        must="it is killed at the file limit",
        play=_DISK_NOTICE,
        live=unprotected.loosened,
        files=2000,
    ),
    Attack(
        name="sparse_file",
        goes_for="a file of one terabyte",
        must="the size is refused",
        play=plays.script,
        live=unprotected.bare,
    ),
    Attack(
        name="deep_folders",
        goes_for="folders nobody can remove",
        must="the room is listed and removed",
        play=plays.folder_removed,
        live=naive.falls_for(naive.COPY_ALL, by="Error"),
    ),
    Attack(
        name="flood",
        goes_for="the host's memory, by 5 GB of output",
        must="little of it is kept",
        play=plays.output_is_bounded,
        live=naive.fills_a_capturing_harness,
    ),
    Attack(
        name="stderr_flood",
        goes_for="a harness that reads line by line",
        must="it is back with the output",
        play=plays.is_back_at_once,
        live=unprotected.blocks_a_line_reader,
    ),
    Attack(
        name="held_pipe",
        goes_for="a harness that waits for the end of output",
        must="it is back at once",
        play=plays.is_back_at_once,
        live=unprotected.holds_a_waiting_harness,
    ),
    Attack(
        name="signal_ignorer",
        goes_for="a harness that ends scripts politely",
        must="it is dead when its time is up",
        play=plays.nobody_is_left,
        live=unprotected.survives_sigterm,
        seconds=2,
    ),
    Attack(
        name="waiting_daemon",
        goes_for="the submission, at grading",
        must="no daemon outlives its script",
        play=plays.submission_stays,
        live=unprotected.changes_it_later,
    ),
    Attack(
        name="slow_death",
        goes_for="a harness that gives up waiting",
        must="it is an ordinary time-out",
        play=plays.ends_by_its_limit,
        live=unprotected.dies_slowly,
        seconds=4,
    ),
    Attack(
        name="forged_refusal",
        goes_for="a run that counts as the harness's fault",
        must="it is the script's own failure",
        play=plays.fails_as_itself,
        live=unprotected.seems_the_harness,
    ),
)
