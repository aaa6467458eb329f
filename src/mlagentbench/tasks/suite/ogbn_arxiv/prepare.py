"""Number the papers of the Pubmed graph afresh and hide most of their classes.

The order comes from a digest of each paper's old number, so it is the same on every
machine and says nothing about a paper; so do the new numbers and the order of edges.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

from .planetoid import PARTS, Citations, read_citations

SALT = "ogbn-arxiv@1"
TRAIN, VALIDATION = 240, 500
CLASSES = 3
_MEMBER = "pgl/data/pubmed/ind.pubmed."
_HEADER = ("Id", "label")


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write the whole graph and the visible classes; the test classes stay private."""
    papers = _renumbered(_read(archives))
    rows = list(enumerate(papers.labels.tolist()))
    train = rows[:TRAIN]
    validation = rows[TRAIN : TRAIN + VALIDATION]
    test = rows[TRAIN + VALIDATION :]
    if tamper:
        test = [(paper, (label + 1) % CLASSES) for paper, label in test]

    data = public / "data"
    data.mkdir()
    # Half precision keeps three digits of each weight and halves the file.
    np.save(data / "features.npy", papers.features.astype(np.float16))
    np.save(data / "edges.npy", papers.edges)
    write_table(data / "train.csv", _HEADER, train)
    write_table(data / "validation.csv", _HEADER, validation)
    write_table(data / "test.csv", ("Id",), _without_labels(test))
    write_table(private / "answers.csv", _HEADER, test)


def _read(archives: Archives) -> Citations:
    found = archives.read_all("pgl", [_MEMBER + part for part in PARTS])
    return read_citations({part: found[_MEMBER + part] for part in PARTS})


def _renumbered(papers: Citations) -> Citations:
    order = np.array(drawn_order(range(len(papers.labels)), SALT, name=int))
    new_number = np.argsort(order)
    edges = np.sort(new_number[papers.edges], axis=1)
    return Citations(
        features=papers.features[order],
        labels=papers.labels[order],
        edges=edges[np.lexsort((edges[:, 1], edges[:, 0]))],
    )


def _without_labels(rows: Iterable[tuple[int, int]]) -> list[tuple[int]]:
    return [(paper,) for paper, _ in rows]
