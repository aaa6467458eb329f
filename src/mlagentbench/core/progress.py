"""How long work reports how far it is; the command line draws the bar."""

from typing import Protocol


class Progress(Protocol):
    """Told about one piece of work after another."""

    def start(self, label: str, total: int | None) -> None:
        """Begin the next piece; `total` is its size, None where nobody knows it."""
        ...

    def advance(self, amount: int) -> None:
        """Report that `amount` more of the present piece is done."""
        ...


class Silent:
    """A progress that nobody watches."""

    def start(self, label: str, total: int | None) -> None:
        """Say nothing."""

    def advance(self, amount: int) -> None:
        """Say nothing."""
