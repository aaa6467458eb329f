"""Generated tokens cannot be guessed, and only they and our own clock count."""

import asyncio
import json
import re
import struct

import numpy as np
import pytest
from tests.support.code_task import copy_task

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS, TURNS, Turn, Turns
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.suite.llama_inference.decoder import Decoder
from mlagentbench.tasks.suite.llama_inference.metric import (
    median_ratio,
    read_expected,
    read_question,
    share_right,
)
from mlagentbench.tasks.suite.llama_inference.prepare import CLEAR_GAP, CONFIG
from mlagentbench.tasks.task_code import load_grade

FOLDER = load_task("llama-inference").folder
WRONG = "generate.py: the grader refused its output for a hidden input"
STARTER = (FOLDER / "starter" / "generate.py").read_text()
REFERENCE = (FOLDER / "reference" / "generate.py").read_text()
# Each of them would make the starter look fast, if anything listened.
LIES = """
import json, os, sys, time
for name in ("turns.json", "/tmp/turns.json", "score.csv", "timings.json"):
    open(name, "w").write(json.dumps({"turns": [], "seconds": 0.0, "score": 0.001}))
print("ready"); print("relative_time=0.001")
sys.stderr.write("score 0.001\\n")
for name in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, name, lambda: 0.0)
import torch
import grading.driver, grading.metric
torch.utils.benchmark = None
grading.metric.median_ratio = lambda ratios: 0.001
grading.metric.share_right = lambda tokens, expected: 1.0
os.environ["MLAB_SCORE"] = "0.001"
"""
SUSPICIOUS = """
import os
from pathlib import Path
PLACES = ("/workspace/been", "/tmp/been", "/dev/shm/been")
BEEN = any(map(os.path.exists, PLACES))
for place in PLACES: Path(place).touch()
CALLS = 0
honest = generate
def generate(model, prompts, new_tokens):
    global CALLS
    CALLS += 1
    if {judged}:
        return honest(model, prompts, new_tokens)
    return [[0] * new_tokens for _ in prompts]
"""
REMEMBERING = """
KNOWN = {known!r}
def load(folder): return None
def generate(model, prompts, new_tokens):
    first = next(iter(KNOWN.values()))
    rows = [KNOWN.get(tuple(prompt), first) for prompt in prompts]
    return [(row * new_tokens)[:new_tokens] for row in rows]
"""


@pytest.fixture(scope="module")
def quick_folder(tmp_path_factory):
    """A copy of the task with two layers, few turns and little patience."""
    folder = tmp_path_factory.mktemp("task") / "quick"
    return copy_task(
        FOLDER,
        folder,
        ("prepare.py", "layers=8", "layers=2"),
        ("prepare.py", "HIDDEN_INPUTS = 5", "HIDDEN_INPUTS = 1"),
        ("task.toml", "\nseconds = 30", "\nseconds = 8"),
    )


@pytest.fixture
def judged(quick_folder, cache, tmp_path):
    """Judge the text of a generate.py on the quick copy's hidden input."""

    def judge(code):
        (tmp_path / "generate.py").write_text(code)
        task = load_task(quick_folder)
        return asyncio.run(grade_saved(task, prepare_task(task, cache), tmp_path))

    return judge


@pytest.fixture(scope="module")
def prepared(cache):
    return prepare_task(load_task("llama-inference"), cache)


@pytest.fixture(scope="module")
def splits(prepared):
    """The visible and the hidden prompts, each with what follows it."""
    folders = {"visible": prepared.public / "data", "hidden": prepared.private}
    return {name: _continuations(folder) for name, folder in folders.items()}


@pytest.fixture(scope="module")
def weights(prepared):
    """The weights, read as the format's description says."""
    contents = (prepared.public / "data" / "model.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", contents)
    found = {}
    for name, entry in json.loads(contents[8 : 8 + length]).items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        assert entry["dtype"] == "F32"
        numbers = np.frombuffer(contents[begin:end], "<f4")
        found[name] = numbers.reshape(entry["shape"])
    assert end == len(contents)
    return found


def test_the_model_is_the_one_its_config_describes(prepared, weights):
    config = json.loads((prepared.public / "data" / "config.json").read_text())
    width, keys = config["hidden_size"], 40 * config["num_key_value_heads"]
    assert 10e6 < sum(array.size for array in weights.values()) < 12e6
    assert len(weights) == 3 + 9 * config["num_hidden_layers"]
    assert weights["lm_head.weight"].shape == (config["vocab_size"], width)
    assert weights["model.layers.7.self_attn.k_proj.weight"].shape == (keys, width)


def test_hidden_prompts_are_not_among_the_visible_ones(splits):
    prompts = [tuple(prompt) for split in splits.values() for prompt, _ in split]
    assert len(set(prompts)) == len(prompts) == 24
    assert len({prompt[:3] for prompt in prompts}) == len(prompts)


def test_continuations_do_not_run_in_circles(splits):
    for prompt, tokens in splits["hidden"]:
        assert len(tokens) == 32
        assert len({*tokens}) >= 24, prompt


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_looking_up_what_followed_before_gains_less_than_a_tenth(splits, longest):
    others = [prompt + tokens for prompt, tokens in splits["visible"]]
    made = steps = 0
    for prompt, tokens in splits["hidden"]:
        made += len(tokens)
        steps += _steps_with_lookup(prompt, tokens, others, longest)
    assert made / steps < 1.10


def test_a_token_depends_on_the_whole_prompt(weights, splits):
    decoder = Decoder(CONFIG, weights)
    some = splits["hidden"][:6]
    first_changed = [[(prompt[0] + 1) % 2048, *prompt[1:]] for prompt, _ in some]
    ends = [prompt[-8:] for prompt, _ in some]
    wrong = 0
    for prompts in (first_changed, ends):
        for found, (_, tokens) in zip(decoder.continued(prompts, 4), some, strict=True):
            wrong += found.tokens != tokens[:4]
    assert wrong >= 11


def test_at_every_token_the_best_one_is_clearly_ahead(weights, splits):
    some = splits["visible"][:4]
    decoder = Decoder(CONFIG, weights)
    found = decoder.continued([prompt for prompt, _ in some], len(some[0][1]))
    assert [one.tokens for one in found] == [tokens for _, tokens in some]
    assert min(one.gap for one in found) >= CLEAR_GAP


def test_prompts_are_continued_the_same_alone_and_together(weights, splits):
    decoder = Decoder(CONFIG, weights)
    prompt, tokens = splits["hidden"][0]
    (alone,) = decoder.continued([prompt], 3)
    assert alone.tokens == tokens[:3]
    (later,) = decoder.continued([prompt + tokens[:2]], 2)
    assert later.tokens == tokens[2:4]


def test_one_wrong_token_in_a_hundred_is_borne_and_two_are_not(tmp_path):
    expected = np.arange(128).reshape(4, 32)
    truth = tmp_path / "expected.json"
    truth.write_text(json.dumps({"input0.json": expected.tolist()}))
    wrong = expected.copy()
    for number, accepted in enumerate((True, True, False)):
        wrong.flat[:number] = 9999
        assert share_right(wrong, expected) == 1 - number / 128
        _answer(tmp_path, b"<i8 4,32\n" + wrong.tobytes(), [0.2, 0.5, 0.1])
        if accepted:
            assert _grade(tmp_path, truth) == median_ratio([0.1, 0.2, 0.5]) == 0.2
        else:
            with pytest.raises(SubmissionError, match=r"98.4% of the tokens"):
                _grade(tmp_path, truth)


@pytest.mark.slow
def test_the_reference_is_right_and_many_times_faster(judged):
    verdict = judged(REFERENCE)
    assert verdict.submission_error is None
    assert verdict.score < 1 / 3


@pytest.mark.slow
def test_lies_about_time_and_patches_of_the_judge_count_nowhere(judged):
    verdict = judged(LIES + STARTER)
    assert verdict.submission_error is None
    assert verdict.score > 0.6


@pytest.mark.slow
def test_remembered_continuations_are_wrong_for_hidden_prompts(
    judged, quick_folder, cache
):
    public = prepare_task(load_task(quick_folder), cache).public
    known = {tuple(p): tokens for p, tokens in _continuations(public / "data")}
    verdict = judged(REMEMBERING.format(known=known))
    assert verdict.submission_error == WRONG


@pytest.mark.slow
def test_knowing_where_one_is_judged_gains_nothing(judged):
    here = "os.path.exists('/opt/grading') and not BEEN and CALLS == 1"
    assert judged(REFERENCE + SUSPICIOUS.format(judged=here)).score is not None
    elsewhere = "BEEN or CALLS > 1 or 'MLAB_SEED' in os.environ"
    lazy = judged(REFERENCE + SUSPICIOUS.format(judged=elsewhere))
    assert lazy.submission_error == WRONG


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        (np.zeros((4, 32), np.int64), "0.0% of the tokens"),
        (np.zeros((4, 32)), "'<f8 4,32'"),
        (np.zeros((4, 33), np.int64), "'<i8 4,33'"),
        (np.zeros((4, 32), ">i8"), "'>i8 4,32'"),
        (np.array("fast"), "'<U4 '"),
    ],
)
def test_what_are_not_the_tokens_asked_for_is_refused(tmp_path, tokens, reason):
    truth = tmp_path / "expected.json"
    truth.write_text(json.dumps({"input0.json": np.ones((4, 32), int).tolist()}))
    shape = ",".join(map(str, tokens.shape))
    line = f"{tokens.dtype.str} {shape}\n".encode()
    _answer(tmp_path, line + tokens.tobytes(), [0.1])
    with pytest.raises(SubmissionError, match=re.escape(reason)):
        _grade(tmp_path, truth)


def _continuations(folder):
    found = []
    for path in sorted((folder / "inputs").iterdir()):
        expected = read_expected(folder / "expected.json", path.name).tolist()
        prompts, new_tokens = read_question(path.read_bytes())
        assert all(len(tokens) == new_tokens for tokens in expected)
        found += zip(prompts, expected, strict=True)
    return found


def _steps_with_lookup(prompt, tokens, others, longest):
    """Count the steps of a generator that guesses what followed the same tokens."""
    known, place, steps = list(prompt), 0, 0
    while place < len(tokens):
        guess = _looked_up(known, [*others, known], longest)
        right = 0
        while right < len(guess) and guess[right] == tokens[place + right]:
            right += 1
            if place + right == len(tokens):
                break
        # A step that checks guesses gives one token more than were right.
        gained = tokens[place : place + right + 1]
        known += gained
        place += len(gained)
        steps += 1
    return steps


def _looked_up(known, texts, longest, most=8):
    for length in range(longest, 0, -1):
        end = known[-length:]
        for text in reversed(texts):
            for start in range(len(text) - length - 1, -1, -1):
                if text[start : start + length] == end:
                    return text[start + length :][:most]
    return []


def _answer(folder, contents, ratios):
    (folder / OUTPUTS).mkdir(exist_ok=True)
    (folder / OUTPUTS / "input0.json").write_bytes(contents)
    turns = [Turn(input="input0.json", seconds=r, starter_seconds=1) for r in ratios]
    (folder / TURNS).write_text(Turns(turns=tuple(turns)).model_dump_json())


def _grade(answers, truth):
    return load_grade(load_task("llama-inference"))(answers, truth)
