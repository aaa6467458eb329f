"""Reading -A key=value, reply fields, ideas.

They were written before any study and name no task and no column. Whether an agent was
given them is a setting, and is reported with its results.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from mlagentbench.core.errors import UsageError


def refuse_unknown(settings: Mapping[str, str], known: Collection[str]) -> None:
    """Raise where a setting was given that the agent does not have."""
    unknown = sorted(set(settings) - set(known))
    if unknown:
        has = ", ".join(known) or "none"
        raise UsageError(f"this agent has no setting {unknown[0]!r}; it has: {has}")


def read_choice(
    settings: Mapping[str, str], key: str, choices: Collection[str], default: str
) -> str:
    """Return a setting's value, which must be one of the choices."""
    value = settings.get(key, default)
    if value not in choices:
        allowed = ", ".join(choices)
        raise UsageError(f"{key}={value} is not possible; choose from: {allowed}")
    return value


def read_count(
    settings: Mapping[str, str], key: str, default: int, *, most: int = 10_000
) -> int:
    """Return a setting's value, which must be a whole number from 1."""
    return read_number(settings, key, default, least=1, most=most)


def read_number(
    settings: Mapping[str, str], key: str, default: int, *, least: int, most: int
) -> int:
    """Return a setting's value, which must be a whole number between two others."""
    text = settings.get(key, str(default))
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
    if not least <= number <= most:
        raise UsageError(
            f"{key}={text} is not possible; give a number from {least} to {most}"
        )
    return number


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


_FOLDER = Path(__file__).parent / "ideas"


def read_ideas(settings: Mapping[str, str], modality: str) -> tuple[str, ...]:
    """Read `-A ideas=off|generic`, and return the ideas where they are wanted."""
    chosen = read_choice(settings, "ideas", ("off", "generic"), "off")
    return tuple(ideas_for(modality)) if chosen == "generic" else ()


def ideas_for(modality: str) -> list[str]:
    """Return the ideas for a modality, in the order in which they are tried."""
    path = _FOLDER / f"{modality.replace(' ', '_')}.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]
