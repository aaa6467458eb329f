"""Long text made short enough to read: its head, its tail, and what is missing."""

OBSERVATION_CHARACTERS = 20_000


def shortened(text: str, limit: int = OBSERVATION_CHARACTERS) -> str:
    """Keep the head and the tail of a text that is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    dropped = len(text) - 2 * half
    return f"{text[:half]}\n[... {dropped} characters left out ...]\n{text[-half:]}"
