"""Recognising names however a model writes them: `**read_file**` is Read File."""

from mlagentbench.agents.languages.language import Form
from mlagentbench.environment.action import Action

_LONGEST = 200


def bare(name: str) -> str:
    """Return a name's letters and digits, in one case."""
    return "".join(filter(str.isalnum, name[:_LONGEST].casefold()))


def find_action(name: str, form: Form) -> Action | None:
    """Return the action of that name, if there is one."""
    if len(name) > _LONGEST:
        return None
    by_bare_name = {bare(action.name): action for action in form.known.values()}
    return by_bare_name.get(bare(name))
