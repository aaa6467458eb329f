"""What the author of a reply is told when it is no action."""

from mlagentbench.agents.languages.cleaning import MAX_CHARACTERS, clean_name
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.environment.action import Action

CUT_OFF = (
    "Your reply was cut off by the length limit, so nothing was done."
    " Answer again, and be brief."
)
REFUSED = (
    "Your reply was withheld by the provider's content filter, so it counts as"
    " refused and nothing was done. Answer with a next step."
)
TOO_LONG = "The conversation is too long for the model's context; nothing was done."
TOO_MUCH = (
    f"Your reply is longer than {MAX_CHARACTERS} characters and was not read."
    " Answer again, and be brief."
)


def unknown_action(name: str, form: Form) -> Malformed:
    """Return the complaint about a name no action has."""
    names = ", ".join(action.name for action in form.actions)
    return Malformed(
        why=f'There is no action "{clean_name(name)}". The actions are: {names}.'
    )


def bad_input(action: Action, reason: object, said: dict[str, str]) -> Malformed:
    """Return the complaint about an input that could not be used."""
    return Malformed(
        why=f"The input of {action.name} could not be used: {reason}. {action.usage}.",
        move=Move(action=action.name, given={}, said=said),
    )
