"""Chance that belongs to a name, drawn in a few plain ways."""

from collections.abc import Sequence
from typing import TypeVar

from mlagentbench.tasks.suite_data import generator

Item = TypeVar("Item")


class Chance:
    """A source of chance; the same salt draws the same things everywhere."""

    def __init__(self, salt: str) -> None:
        source = generator(salt)
        self._share, self._normal = source.random, source.standard_normal

    def happens(self, share: float) -> bool:
        """Say yes in this share of all cases."""
        return self._share() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """Choose one of the items, each as likely as the others."""
        return items[int(self._share() * len(items))]

    def normal(self) -> float:
        """Draw from the standard normal distribution."""
        return float(self._normal())
