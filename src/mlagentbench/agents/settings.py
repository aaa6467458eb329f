"""An agent's own settings: read strictly, so that a typing error is not a result."""

from collections.abc import Collection, Mapping

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
