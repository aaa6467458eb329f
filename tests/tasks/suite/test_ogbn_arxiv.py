import csv
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.sources import fetch
from mlagentbench.tasks.suite.ogbn_arxiv.grade import grade
from mlagentbench.tasks.suite.ogbn_arxiv.metric import accuracy
from mlagentbench.tasks.suite.ogbn_arxiv.planetoid import PARTS, load, read_citations

TASK = "ogbn-arxiv"
LABELS = st.sampled_from("012")


@pytest.fixture(scope="module")
def labels(prepared):
    data = prepared.public / "data"
    answers = prepared.private / "answers.csv"
    return [
        _rows(path) for path in (data / "train.csv", data / "validation.csv", answers)
    ]


@pytest.fixture(scope="module")
def edges(prepared):
    return np.load(prepared.public / "data" / "edges.npy", allow_pickle=False)


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return {int(row["Id"]): row["label"] for row in csv.DictReader(file)}


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_accuracy_is_scikit_learns(pairs):
    predicted, actual = zip(*pairs, strict=True)
    assert accuracy(predicted, actual) == pytest.approx(
        accuracy_score(actual, predicted)
    )


def test_every_paper_is_in_exactly_one_part_of_the_split(labels):
    assert [len(part) for part in labels] == [240, 500, 18_977]
    ids = [paper for part in labels for paper in part]
    assert sorted(ids) == list(range(19_717))


def test_the_asked_papers_are_the_held_out_ones_and_come_without_classes(
    prepared, labels
):
    asked = (prepared.public / "data" / "test.csv").read_text().split()
    assert asked == ["Id", *map(str, labels[2])]


def test_every_part_holds_the_classes_in_about_the_same_shares(labels):
    for part in labels:
        shares = [list(part.values()).count(label) / len(part) for label in "012"]
        assert shares == pytest.approx([0.21, 0.39, 0.40], abs=0.07)


def test_each_citation_appears_once_and_no_paper_cites_itself(edges):
    assert edges.shape == (44_324, 2)
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == len(edges)


def test_features_and_citations_still_belong_to_the_papers(prepared, labels, edges):
    features = np.load(prepared.public / "data" / "features.npy", allow_pickle=False)
    assert features.shape == (19_717, 500)
    known = {paper: label for part in labels for paper, label in part.items()}
    classes = np.array([int(known[paper]) for paper in range(len(features))])
    alike = (classes[edges[:, 0]] == classes[edges[:, 1]]).mean()
    assert alike > 0.75, "cited papers are mostly of the same class"
    centres = np.stack([features[classes == c].mean(axis=0) for c in range(3)])
    nearest = (features.astype(np.float32) @ centres.T.astype(np.float32)).argmax(1)
    assert (nearest == classes).mean() > 0.6, "words tell a paper's class"


def test_numbers_of_papers_say_nothing_about_citations(edges):
    distance = (edges[:, 1] - edges[:, 0]).mean()
    assert distance == pytest.approx(19_717 / 3, rel=0.03)


def test_a_pickle_that_names_anything_else_is_refused():
    with pytest.raises(pickle.UnpicklingError, match="system"):
        load(pickle.dumps(os.system))


def test_rows_of_published_test_papers_go_where_the_graph_counts_them(prepared):
    archives = fetch(load_task(TASK), prepared.cache)
    members = {part: f"pgl/data/pubmed/ind.pubmed.{part}" for part in PARTS}
    found = archives.read_all("pgl", members.values())
    papers = read_citations({part: found[members[part]] for part in PARTS})
    of_test_papers = papers.edges[(papers.edges >= 18_717).any(axis=1)]
    alike = papers.labels[of_test_papers]
    assert (alike[:, 0] == alike[:, 1]).mean() > 0.7, "by chance it would be 0.36"


@pytest.mark.parametrize("label", ["3", "1.0", " 1", "-1", ""])
def test_a_label_that_is_no_class_is_refused(tmp_path: Path, label):
    truth, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truth.write_text("Id,label\n740,1\n")
    answers.write_text(f"Id,label\n740,{label}\n")
    with pytest.raises(SubmissionError):
        grade(answers, truth)
    assert grade(truth, truth) == 1.0
