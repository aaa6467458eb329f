"""Which language an agent speaks: what it was told, or what its model is best at."""

from mlagentbench.agents.context import Speech
from mlagentbench.agents.languages.language import Language
from mlagentbench.agents.languages.schema import SchemaLanguage
from mlagentbench.agents.languages.text import TextLanguage
from mlagentbench.agents.languages.tools import ToolsLanguage
from mlagentbench.core.errors import UsageError

_LANGUAGES: dict[str, Language] = {
    "text": TextLanguage(),
    "tools": ToolsLanguage(),
    "schema": SchemaLanguage(),
}
_BEST = "auto"


def language_for(protocol: str, speech: Speech) -> Language:
    """Return the language of that name; `auto` is what the provider is best at."""
    name = speech if protocol == _BEST else protocol
    if name not in _LANGUAGES:
        raise UsageError(
            f"there is no protocol '{protocol}';"
            f" choose {', '.join(_LANGUAGES)} or {_BEST}"
        )
    return _LANGUAGES[name]
