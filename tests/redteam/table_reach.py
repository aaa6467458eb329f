"""Attacks that want to read or reach what is not theirs."""

from tests.redteam.attack import Attack
from tests.redteam.plays import script
from tests.redteam.unprotected import bare, bare_finds_all


def _row(name: str, goes_for: str, must: str, *, needs_root: bool = False) -> Attack:
    return Attack(
        name=name,
        goes_for=goes_for,
        must=must,
        play=script,
        live=bare,
        needs_root=needs_root,
    )


REACH = (
    _row("labels_by_path", "the labels, at their own path", "no path leads there"),
    _row("labels_by_name", "the labels, by name", "no such name is visible"),
    _row("harness_by_path", "graders, references, generators", "no path leads there"),
    _row("harness_by_name", "any file of the package", "no such name is visible"),
    Attack(
        name="secrets_by_content",
        goes_for="labels, graders' code and the canary, by content",
        must="no visible text holds them",
        play=script,
        live=bare_finds_all,
        seconds=180,
    ),
    _row("harness_by_import", "the package, by import", "it cannot be imported"),
    _row("home_folder", "home and system folders", "they hold nothing"),
    _row("other_room", "another run's workspace", "it cannot be opened"),
    _row("host_environment", "the host's API keys", "no environment has them"),
    _row("host_through_proc", "the host, through /proc", "no process leads there"),
    _row("inherited_descriptors", "files left open", "only the standard streams"),
    _row("shared_memory", "memory shared on the host", "there is none"),
    _row("host_processes", "processes of the host", "none can be seen or signalled"),
    _row("process_memory", "the harness's memory", "it is refused", needs_root=True),
    _row("network_loopback", "services of the host", "there is no network"),
    _row("network_abstract_socket", "sockets without a file", "they are not there"),
    _row("network_socket_file", "sockets with a file", "they are not there"),
    _row("vsock", "the hypervisor", "the family is refused"),
    _row("odd_sockets", "odd sockets", "they are refused", needs_root=True),
)
