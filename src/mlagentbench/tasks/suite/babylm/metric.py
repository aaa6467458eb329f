"""The metric of BabyLM: perplexity per word, lower is better.

Run it beside your three files to see their score on the validation texts:

    python evaluate.py
"""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path


def word_perplexity(nats: Iterable[float], texts: Sequence[str]) -> float:
    """Spread the surprise at all texts over their words, whatever the tokens were."""
    return math.exp(math.fsum(nats) / sum(len(text.split()) for text in texts))


def read_texts(path: Path) -> list[str]:
    """Read a file of documents: a JSON list of texts."""
    texts: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return texts


def main() -> None:
    """Print the score of the model in this folder."""
    from likelihood import load, nats_of  # type: ignore[import-not-found]

    texts = read_texts(Path("data/inputs/validation.json"))
    score = word_perplexity(nats_of(load(Path()), texts), texts)
    print(f"validation perplexity={score:.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
