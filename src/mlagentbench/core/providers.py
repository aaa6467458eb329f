"""Table of the model providers that the harness treats differently from others.

It is in core because evaluation and reports need to know which models are free.
"""

from typing import Literal

from mlagentbench.core.record import Record


class ProviderInfo(Record):
    """Properties of one provider's models."""

    free: bool = False
    """They answer on this machine and send nothing anywhere."""
    protocol: Literal["text", "tools", "schema"] = "tools"
    """The reply protocol they are best at."""
    prompt_characters: int = 60_000
    """Characters of a run that an LLM judge is shown."""


PROVIDERS = {
    # Small local models call no tools but keep to a schema.
    "local": ProviderInfo(free=True, protocol="schema", prompt_characters=12_000),
    "scripted": ProviderInfo(free=True),
    "replay": ProviderInfo(free=True),
}


def provider_info(model: str) -> ProviderInfo:
    """Return what is known of the provider of a model."""
    return PROVIDERS.get(model.partition("/")[0], ProviderInfo())
