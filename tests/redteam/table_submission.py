"""Attacks on the host's hands: what it collects, reads, lists and executes."""

from tests.redteam import host_plays, naive, plays
from tests.redteam.attack import Attack


def _planted(name: str, kind: str, live: naive.Live) -> Attack:
    return Attack(
        name=name,
        goes_for=f"the host, by {kind} handed in",
        must="it is refused at once",
        play=plays.refused_as_submission,
        live=live,
    )


_READ = naive.READ

SUBMISSION = (
    _planted("submission_symlink", "a link", naive.shows_the_labels),
    _planted("submission_fifo", "a pipe", naive.falls_for(_READ, by="hangs")),
    _planted("submission_folder", "a folder", naive.falls_for(_READ, by="Error")),
    _planted("submission_sparse", "a hole", naive.falls_for(_READ, by="MemoryError")),
    _planted(
        "submission_hard_link", "a second name", naive.falls_for(_READ, by="were")
    ),
    _planted("submission_socket", "a socket", naive.falls_for(_READ, by="Error")),
    Attack(
        name="submission_set_uid",
        goes_for="the host, by a set-uid program handed in",
        must="only its bytes are kept",
        play=plays.kept_without_its_mode,
        live=naive.falls_for(naive.COPY, by="mode 6755"),
    ),
    Attack(
        name="folder_swap",
        goes_for="the labels, while the host looks",
        must="no swapped link is followed",
        play=host_plays.never_follows_a_swap,
        live=naive.follows_a_swap,
    ),
    Attack(
        name="odd_names",
        goes_for="whoever reads a listing",
        must="names are shown as plain text",
        play=host_plays.listing_is_plain,
        live=naive.falls_for(naive.LIST, by="forge"),
    ),
    Attack(
        name="shell_words",
        goes_for="a shell, by a file's name",
        must="a name is only a name",
        play=host_plays.name_is_only_a_name,
        live=naive.runs_a_shell,
    ),
    Attack(
        name="paths_out",
        goes_for="the labels, through Read File",
        must="every name is refused",
        play=host_plays.actions_stay_inside,
        live=naive.reads_outside,
    ),
)
