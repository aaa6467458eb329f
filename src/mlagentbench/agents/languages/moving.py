"""From a name and an input, as a model gave them, to a move or a complaint."""

from mlagentbench.agents.languages.complaints import bad_input, unknown_action
from mlagentbench.agents.languages.inputs import fitted
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.naming import find_action
from mlagentbench.agents.languages.strict import ReadingError
from mlagentbench.agents.moves import Move, Understood


def as_move(name: str, given: object, said: dict[str, str], form: Form) -> Understood:
    """Return the move, if the action is known and its input is right.

    An error in place of the input says why there is none.
    """
    action = find_action(name, form)
    if action is None:
        return unknown_action(name, form)
    if isinstance(given, ReadingError):
        return bad_input(action, given, said)
    try:
        return Move(action=action.name, given=fitted(action, given), said=said)
    except ReadingError as reason:
        return bad_input(action, reason, said)
