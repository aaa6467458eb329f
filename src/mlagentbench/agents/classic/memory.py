"""What the paper's agents remember: their last few steps, and a plan."""

from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageUser, ModelOutput

from mlagentbench.agents.classic.settings import Habits
from mlagentbench.agents.prompting import prompt
from mlagentbench.environment.prompts import fenced

DONE = "<Done>"
"""Stands for an observation that is no longer shown."""


@dataclass(frozen=True)
class Remembered:
    """One step of the agent's own."""

    reply: ModelOutput
    observation: str
    plan: str = ""
    unread: bool = False
    """Whether its Action Input could not be read, so that nothing was done."""


class Memory:
    """The steps so far; a model is shown the last of them."""

    def __init__(self, opening: str, habits: Habits) -> None:
        self._opening = opening
        self._habits = habits
        self.steps: list[Remembered] = []
        self.plan = ""
        """The latest there is."""
        self.recalled = ""
        """What the research log says about earlier steps."""

    @property
    def reaches_back_further(self) -> bool:
        """Whether there are steps that a model is no longer shown."""
        return len(self.steps) > self._habits.steps

    def add(self, step: Remembered) -> None:
        """Remember a step; once one was good, those that could not be read go."""
        if not step.unread:
            self.steps = [old for old in self.steps if not old.unread]
        self.steps.append(step)
        self.plan = step.plan or self.plan

    def messages(self, fewer: int = 0) -> list[ChatMessage]:
        """Return what a model is shown; `fewer` steps than usual where it must be."""
        shown = self.steps[-self._habits.steps :][fewer:]
        messages: list[ChatMessage] = [ChatMessageUser(content=self._beginning(shown))]
        for age, step in zip(range(len(shown), 0, -1), shown, strict=True):
            told = step.observation if age <= self._habits.observations else DONE
            messages += self._habits.language.exchange(step.reply, told)
        return messages

    def _beginning(self, shown: list[Remembered]) -> str:
        parts = [self._opening]
        if self.plan and not any(step.plan for step in shown):
            parts.append(prompt("classic_plan", plan=fenced(self.plan)))
        if self.recalled:
            parts.append(prompt("classic_recalled", log=fenced(self.recalled)))
        return "\n\n".join(parts)
