"""Reading the sides of a comparison as people type them: EXP or EXP:NAME."""

from collections.abc import Sequence

from mlagentbench.cli.selection import split
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.compare import Side
from mlagentbench.report.naming import who
from mlagentbench.report.plain import harmless
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.scorecards import last_attempts


def read_sides(texts: Sequence[str]) -> tuple[list[Side], list[str]]:
    """Return the sides, and a warning for each line that could not be read."""
    sides: list[Side] = []
    warnings: list[str] = []
    for text in texts:
        side, odd = _side(text)
        sides.append(side)
        warnings += odd
    return _told_apart(sides, texts), list(dict.fromkeys(warnings))


def _told_apart(sides: list[Side], texts: Sequence[str]) -> list[Side]:
    if len({side.name for side in sides}) == len(sides):
        return sides
    return [
        side.model_copy(update={"name": f"{side.name} in {text}"})
        for side, text in zip(sides, texts, strict=True)
    ]


def _side(text: str) -> tuple[Side, list[str]]:
    folder, name = split(text)
    found, warnings = Experiment(folder).scorecards()
    cards = last_attempts(found)
    if not cards:
        raise UsageError(
            f"{folder} has no scorecards; `mlab score {folder}` makes them"
        )
    chosen = [card for card in cards if not name or name in _names(card)]
    if not chosen:
        raise UsageError(
            f"{folder} has no agent or model '{name}'; it has {_listed(cards)}"
        )
    acting = {who(card) for card in chosen}
    if len(acting) > 1:
        raise UsageError(
            f"{text} is several: {_listed(chosen)}; name one of them as {folder}:NAME"
        )
    return Side(name=harmless(acting.pop()), cards=tuple(chosen)), warnings


def _names(card: Scorecard) -> tuple[str, str, str]:
    return card.agent, card.model, who(card)


def _listed(cards: Sequence[Scorecard]) -> str:
    return ", ".join(dict.fromkeys(harmless(who(card)) for card in cards))
