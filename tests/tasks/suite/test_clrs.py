"""Only learned processors get a score, and it is the share of right pointers."""

import asyncio
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.errors import SandboxError, SubmissionError
from mlagentbench.core.turns import OUTPUTS
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.suite.clrs.chance import RULES, best_rule
from mlagentbench.tasks.suite.clrs.generator import draw_graphs, solve
from mlagentbench.tasks.suite.clrs.grade import grade
from mlagentbench.tasks.suite.clrs.metric import (
    pointer_accuracy,
    read_expected,
    read_graphs,
)
from mlagentbench.tasks.suite.clrs.probes import HIDDEN, SHAPES, safetensors
from mlagentbench.tasks.suite.clrs.variants import TRIALS, trials

TASK = "CLRS"
RECORDED = Path(__file__).parents[2] / "data" / "clrs" / "dm_clrs.json"

# Solves the graph: its encoder leaves weight, edge and diagonal in three channels, and
# its decoder adds up channels zero and one of a way and of a last step.
SOLVER = """
import os
import torch

def solved(edges):
    nothing = (edges[..., 1] < 0.5) & (edges[..., 2] < 0.5)
    steps = edges[..., 0].masked_fill(nothing, 1e3)
    ways = steps
    for _ in range(5):
        ways = torch.minimum(ways, (ways[:, :, :, None] + ways[:, None]).amin(2))
    state = torch.zeros_like(edges)
    state[..., 0], state[..., 1], state[..., 2] = ways, steps, 1.0
    return state

class Processor(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.mix = torch.nn.Linear(hidden, hidden)

    def forward(self, edges, state, adjacency):
        if {condition}:
            return solved(edges)
        return torch.zeros_like(edges)
"""
MIXER = """
import torch

class Processor(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.mix = torch.nn.Linear(hidden, hidden)

    def forward(self, edges, state, adjacency):
        return torch.relu(self.mix({state}))
"""
COUNTING_CALLS = """(globals().__setitem__("calls", globals().get("calls", 0) + 1)
            or calls <= 6)"""
FIRST_OF_ALL = """os.path.exists(f"/tmp/{os.getpid()}") or (
            not os.listdir("/tmp") and not open(f"/tmp/{os.getpid()}", "x").close())"""
COMPARING = """os.path.exists("/workspace/model.safetensors") or os.path.exists(
            "/workspace/processor.py")"""
LOOKING_AROUND = """any("/workspace" in str(value) for value in os.environ.values()
            ) or len(os.listdir("/proc/self/fd")) > 6"""
EXACT_PASSWORD = "self.mix.bias[0] == 0.125"
INEXACT_EMBEDDING = "edges[0, 0, 0, 2] != 1"


@pytest.fixture(scope="module")
def task():
    return load_task(TASK)


@pytest.fixture
def judge(task, prepared, tmp_path):
    def verdict(code, numbers):
        (tmp_path / "processor.py").write_text(code)
        (tmp_path / "model.safetensors").write_bytes(numbers)
        return asyncio.run(grade_saved(task, prepared, tmp_path, split="visible"))

    return verdict


def solver_numbers():
    """What makes encoder and decoder pass on weights and add up lengths."""
    numbers = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    numbers["encoder.weight"][:3] = np.eye(3)
    # way = (-ways, 1), step = (1, -steps): their product is minus the whole length.
    numbers["way.weight"][0, 0], numbers["way.bias"][1] = -1, 1
    numbers["step.bias"][0], numbers["step.weight"][1, 1] = 1, -1
    numbers["processor.mix.weight"][:] = np.eye(HIDDEN)
    numbers["processor.mix.bias"][:] = 0.125
    return {
        name: 8 * array if "way" in name else array for name, array in numbers.items()
    }


def drawn_numbers():
    rng = np.random.default_rng(1)
    drawn = {name: rng.normal(0, 0.3, shape) for name, shape in SHAPES.items()}
    return safetensors({name: old.astype(np.float32) for name, old in drawn.items()})


def mixing(state):
    return MIXER.format(state=state)


def solver(condition):
    return SOLVER.format(condition=condition)


def answers_with(folder, outputs):
    (folder / OUTPUTS).mkdir(exist_ok=True)
    for name, trial in outputs.items():
        shape = ",".join(map(str, trial.shape))
        contents = f"|u1 {shape}\n".encode() + trial.astype(np.uint8).tobytes()
        (folder / OUTPUTS / name).write_bytes(contents)
    return folder


def test_graphs_are_solved_as_dm_clrs_solves_them():
    for recorded in json.loads(RECORDED.read_text())["graphs"]:
        solved = solve(np.array(recorded["weights"]))
        assert solved.pointers.tolist() == recorded["pointers"]
        assert solved.pointer_hints.tolist() == recorded["pointer_hints"]
        assert solved.distance_hints.tolist() == recorded["distance_hints"]


@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(1, 3))
def test_the_metric_is_a_share_of_pairs_of_different_nodes(seed, nodes, graphs):
    rng = np.random.default_rng(seed)
    true, guessed = rng.integers(0, 3, (2, graphs, nodes, nodes), np.uint8)
    right = asked = 0
    for graph in range(graphs):
        for i in range(nodes):
            for j in range(nodes):
                if i != j:
                    asked += 1
                    right += bool(true[graph, i, j] == guessed[graph, i, j])
    assert pointer_accuracy([guessed], [true]) == right / asked


def test_splits_differ_in_size_and_no_graph_comes_twice(prepared):
    data = prepared.public / "data"
    seen, sizes = set(), {}
    for split, folder in (
        ("train", data / "train"),
        ("visible", data / "inputs"),
        ("hidden", prepared.private / "inputs"),
    ):
        for path in folder.iterdir():
            graphs = read_graphs(path.read_bytes())
            sizes.setdefault(split, set()).add(graphs.shape[1])
            assert (graphs == graphs.swapaxes(1, 2)).all()
            fingerprints = {graph.tobytes() for graph in graphs if graph.any()}
            if graphs.shape[1] > 8:
                assert len(fingerprints) == len(graphs)
                assert not fingerprints & seen
            seen |= fingerprints
    assert sizes == {"train": {*range(4, 17)}, "visible": {24}, "hidden": {32}}


def test_pointers_lead_back_along_a_shortest_path():
    (graph,) = draw_graphs(np.random.default_rng(5), 1, 12)
    solved = solve(graph)
    lengths = np.where(graph > 0, graph.astype(float), np.inf)
    np.fill_diagonal(lengths, 0)
    for _ in range(12):
        lengths = np.minimum(lengths, (lengths[:, :, None] + lengths[None]).min(1))
    for i in range(12):
        for j in range(12):
            before = solved.pointers[i, j]
            if i != j and np.isfinite(lengths[i, j]):
                assert graph[before, j] > 0
                way = lengths[i, before] + graph[before, j]
                assert way == pytest.approx(lengths[i, j])


def test_the_truth_is_perfect_if_other_numbers_do_not_find_it(prepared, tmp_path):
    truth = prepared.private / "expected.npz"
    outputs = {
        name: np.stack([right, *[np.zeros_like(right)] * (TRIALS - 1)])
        for name, right in read_expected(truth).items()
    }
    answers = answers_with(tmp_path, outputs)
    assert grade(answers, truth) == 1.0
    outputs = {name: trial[[0, 1, 2, 3, 4, 0]] for name, trial in outputs.items()}
    with pytest.raises(SubmissionError, match=r"not learned.* 100% .* one time"):
        grade(answers_with(tmp_path, outputs), truth)


def test_other_numbers_may_be_lucky_once_but_not_on_average(prepared, tmp_path):
    truth = prepared.private / "expected.npz"
    expected = read_expected(truth)

    def graded(lucky):
        outputs = {}
        for name, right in expected.items():
            trial = np.stack([right, *[np.zeros_like(right)] * (TRIALS - 1)])
            most = round(0.7 * len(right))
            trial[1 : 1 + lucky, :most] = right[:most]
            outputs[name] = trial
        return grade(answers_with(tmp_path, outputs), truth)

    assert graded(lucky=1) == 1.0
    with pytest.raises(SubmissionError, match=r"not learned.* on average"):
        graded(lucky=TRIALS - 1)


def test_simple_rules_are_far_from_perfect_and_rightly_written(prepared):
    truth = prepared.private / "expected.npz"
    for name, right in read_expected(truth).items():
        weights = read_graphs((truth.with_name("inputs") / name).read_bytes())
        assert 0.5 < best_rule(weights, right) < 0.65
        for rule in RULES:
            assert rule(weights).shape == right.shape
    path = np.zeros((1, 3, 3))
    path[0, 0, 1] = path[0, 1, 0] = path[0, 1, 2] = path[0, 2, 1] = 0.5
    source, nearest, either, two = (rule(path)[0, 0, 2] for rule in RULES)
    assert (source, nearest, either, two) == (0, 1, 1, 1)


def test_what_is_drawn_is_the_same_each_time_and_leaves_the_rest_alone():
    numbers = solver_numbers()
    first, again, other = (
        trials(numbers, {}, question) for question in (b"1", b"1", b"2")
    )
    assert len(first) == TRIALS
    for one, same in zip(first, again, strict=True):
        assert all((one[name] == same[name]).all() for name in numbers)
    weight = "processor.mix.weight"
    assert (first[2][weight] != other[2][weight]).any()
    assert np.allclose(first[0][weight], numbers[weight], rtol=0.01)
    for redrawn in first[2:]:
        assert (redrawn[weight] != numbers[weight]).any()
        kept = redrawn["encoder.weight"]
        assert np.allclose(kept, numbers["encoder.weight"], rtol=0.01)
        assert (kept[numbers["encoder.weight"] != 0] != 1).all()
    assert np.abs(first[-1][weight]).sum() == pytest.approx(HIDDEN, rel=0.01)


def test_a_processor_that_solves_graphs_is_refused(judge):
    verdict = judge(solver("True"), safetensors(solver_numbers()))
    assert verdict.score is None
    assert "not learned" in verdict.submission_error
    assert "100%" in verdict.submission_error


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [COUNTING_CALLS, COMPARING, LOOKING_AROUND, EXACT_PASSWORD, INEXACT_EMBEDDING],
    ids=["counting", "comparing", "looking around", "password", "inexact embedding"],
)
def test_finding_out_about_the_trial_gains_nothing(judge, condition):
    verdict = judge(solver(condition), safetensors(solver_numbers()))
    # Rules without any processor get half of the pointers right.
    assert verdict.score is None or verdict.score < 0.5


@pytest.mark.slow
def test_trials_come_in_an_order_that_nobody_can_count_on(judge):
    numbers = safetensors(solver_numbers())
    found = (judge(solver(FIRST_OF_ALL), numbers) for _ in range(9))
    assert any("not learned" in (each.submission_error or "") for each in found)


@pytest.mark.slow
def test_two_gradings_are_the_same_to_the_last_digit(judge):
    scores = {judge(mixing("state + edges"), drawn_numbers()).score for _ in range(2)}
    assert len(scores) == 1
    assert None not in scores


@pytest.mark.slow
def test_the_processor_that_was_submitted_is_the_one_that_is_judged(judge):
    plain = judge(mixing("state"), drawn_numbers()).score
    other = judge(mixing("state.transpose(1, 2) * edges"), drawn_numbers()).score
    assert None not in (plain, other)
    assert plain != other


def test_a_pickle_is_not_read(judge):
    verdict = judge(mixing("state"), pickle.dumps(solver_numbers()))
    assert "SafetensorError" in verdict.submission_error


def test_a_link_in_place_of_numbers_is_not_followed(judge, tmp_path):
    (tmp_path / "numbers").write_bytes(drawn_numbers())
    (tmp_path / "model.safetensors").symlink_to("numbers")
    with pytest.raises(SandboxError, match="neither a file nor a folder"):
        judge(mixing("state"), drawn_numbers())


def test_memory_without_end_is_the_submission_s_fault(judge):
    verdict = judge(mixing("torch.ones(10**12)"), drawn_numbers())
    assert verdict.score is None
    assert "memory" in verdict.submission_error
