"""What the page says first: who succeeds how often, and how sure that is."""

from collections.abc import Sequence

from mlagentbench.core.record import Record
from mlagentbench.report.summaries import Summary
from mlagentbench.report.tables import SuiteTable


class Headline(Record):
    """One edition's agents, those that succeed most often first."""

    edition: str
    tasks: int
    standings: tuple[Summary, ...]

    @property
    def first(self) -> Summary | None:
        """The agent with the highest average, where one could be taken."""
        lead = self.standings[0] if self.standings else None
        return lead if lead and lead.success else None

    @property
    def level(self) -> tuple[Summary, ...]:
        """The others whose interval reaches into that of the first."""
        first = self.first
        if first is None or first.success is None:
            return ()
        low = first.success.here.low
        return tuple(
            other
            for other in self.standings[1:]
            if other.success and other.success.here.high >= low
        )


def headlines(tables: Sequence[SuiteTable]) -> tuple[Headline, ...]:
    """Put each edition's agents in order."""
    return tuple(
        Headline(
            edition=table.edition,
            tasks=len(table.rows),
            standings=tuple(sorted(table.summaries, key=_order)),
        )
        for table in tables
    )


def _order(found: Summary) -> tuple[float, float]:
    success, gain = found.success, found.improvement_all
    return (
        -success.here.value if success else 1.0,
        -gain.here.value if gain else 0.0,
    )
