"""What a model says beside its action, after the paper: each field can be left out."""

from collections.abc import Mapping

from mlagentbench.core.errors import UsageError

PLAN = "Research Plan and Status"
THOUGHT = "Thought"
FIELDS = {
    "reflection": "Reflection",
    "plan": PLAN,
    "fact_check": "Fact Check",
    "thought": THOUGHT,
}
"""The free fields of a reply by their short names, in the paper's order."""
NO_FIELDS = "none"
ALL_FIELDS = ",".join(FIELDS)


def read_fields(settings: Mapping[str, str], default: str) -> tuple[str, ...]:
    """Read `-A fields=`; return the fields of a reply, in the paper's order."""
    text = settings.get("fields", default)
    chosen = [] if text == NO_FIELDS else [name.strip() for name in text.split(",")]
    if wrong := [name for name in chosen if name not in FIELDS]:
        raise UsageError(
            f"fields={text} is not possible: there is no field {wrong[0]!r}; choose"
            f" from: {', '.join(FIELDS)}, separated by commas, or {NO_FIELDS}"
        )
    return tuple(field for name, field in FIELDS.items() if name in chosen)
