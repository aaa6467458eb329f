"""A small model is guided: it is shown the script, and what it edits is executed.

An edit it has asked for before is not made again, and what was no better is undone and
forgotten, but for its line in the ledger.
"""

from mlagentbench.agents.complaint import complaint
from mlagentbench.agents.modern.guidance import in_full
from mlagentbench.agents.modern.ledger import Trial
from mlagentbench.agents.modern.researcher import Researcher
from mlagentbench.agents.moves import Move


class GuidedResearcher(Researcher):
    """A model with one script, which every edit executes."""

    def _pointless(self, move: Move) -> str | None:
        if move.given in self._mind.edits:
            return "This very edit was tried before; try something else."
        return super()._pointless(move)

    async def _take(self, move: Move) -> str:
        script = self._context.task.script
        told = await super()._take(in_full(move, script))
        if not self._mind.changed:
            return told
        self._mind.edits.append(move.given)
        step = await self._context.act("Execute Script", script_name=script)
        self._executed(step)
        outcome = step.told if step.ok else f"It failed:\n{complaint(step.told)}"
        return f"{told}\n\n{outcome}"

    def _is_astray(self) -> bool:
        return self._mind.works or super()._is_astray()

    def _is_back_at(self, best: Trial, why: str) -> None:
        super()._is_back_at(best, why)
        self._conversation.forget_the_rest()
