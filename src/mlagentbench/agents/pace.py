"""How long trials take, so that none is begun which the budget would cut off."""

from mlagentbench.agents.context import Context

_MARGIN = 1.2


class Pace:
    """The longest trial so far, by the budget's own clock."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left = context.remaining().seconds
        self._longest = 0.0

    def another_fits(self) -> bool:
        """End a trial; tell whether one as long as the longest still fits."""
        left = self._context.remaining().seconds
        self._longest = max(self._longest, self._left - left)
        self._left = left
        return left > _MARGIN * self._longest
