"""What tells the paper's agents apart."""

from dataclasses import dataclass

from mlagentbench.agents.classic.settings import Habits
from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.prompting import prompt


@dataclass(frozen=True)
class Manner:
    """How one of them goes about its work."""

    opening: str
    """The name of the prompt it begins with."""
    form: Form
    habits: Habits
    reminds: bool = False
    """Whether a reply that is not in format is answered with a reminder."""
    answers_itself: bool = False
    """Whether an unreadable Action Input costs no step, and is soon forgotten."""
    sums_up: bool = False
    """Whether long observations are summed up."""
    log: bool = False
    """Whether it keeps a research log and looks things up in it."""


def opening(context: Context, manner: Manner) -> str:
    """Return what the model is told before anything has happened."""
    return prompt(
        manner.opening,
        explanation=manner.habits.language.explanation(manner.form),
        fields=_meaning(manner.form.fields),
        problem=context.problem,
    )


def _meaning(fields: tuple[str, ...]) -> str:
    lines = prompt("classic_fields").splitlines()
    chosen = [
        line for field in fields for line in lines if line.startswith(f"- {field}:")
    ]
    return "\n".join(
        ["\nWhat belongs into the parts:\n", *chosen, ""] if chosen else [""]
    )
