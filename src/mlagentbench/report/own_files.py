"""The page's own style and scripts, and the digests by which a browser trusts them."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from markupsafe import Markup

_STYLES = ("style", "screens", "tables", "runs", "narrow")
_SCRIPTS = (
    *("common", "improvement", "curves", "averages", "shares"),
    *("drawing", "theme", "sorting", "filtering", "folds"),
)


@cache
def style() -> Markup:
    """Return the whole style sheet; what comes later may overrule."""
    return Markup("\n").join(_own(f"templates/{name}.css") for name in _STYLES)


@cache
def scripts() -> tuple[Markup, ...]:
    """Return what the page runs, in this order."""
    own = (f"templates/scripts/{name}.js" for name in _SCRIPTS)
    return tuple(map(_own, ("assets/plotly-basic.min.js", *own)))


@cache
def script_hashes() -> tuple[str, ...]:
    """Return what a content security policy knows each script by."""
    return tuple(map(_content_hash, scripts()))


def _own(name: str) -> Markup:
    text = files("mlagentbench.report").joinpath(name).read_text(encoding="utf-8")
    return Markup(text)


def _content_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
