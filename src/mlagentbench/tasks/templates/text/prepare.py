"""Split files/messages.csv into train, validation and test messages.

The order comes from a digest of each message, so it is the same on every machine and
does not depend on the label. Messages get new numbers in that order.
"""

import csv
from pathlib import Path

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

from .metric import LABELS

TRAIN, VALIDATION = 400, 200
Message = tuple[int, str, str]


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write the data for agents to `public`, all but training labels to `private`."""
    path = Path(__file__).parent / "files" / "messages.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows = drawn_order(rows, "messages", lambda row: row["message"])
    messages: list[Message] = [
        (number, row["message"], row["topic"]) for number, row in enumerate(rows, 1)
    ]
    train, rest = messages[:TRAIN], messages[TRAIN:]
    if tamper:
        rest = [(number, text, _another(topic)) for number, text, topic in rest]

    data = public / "data"
    columns = ["Id", "message", "topic"]
    write_table(data / "train.csv", columns, train)
    for name, hidden, part in (
        ("validation", "validation", rest[:VALIDATION]),
        ("test", "answers", rest[VALIDATION:]),
    ):
        write_table(data / f"{name}.csv", columns[:2], [row[:2] for row in part])
        labels = [(number, topic) for number, _, topic in part]
        write_table(private / f"{hidden}.csv", ["Id", "topic"], labels)


def _another(label: str) -> str:
    return LABELS[(LABELS.index(label) + 1) % len(LABELS)]
