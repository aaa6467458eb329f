import asyncio
import json
import math
import re
import subprocess
import unicodedata
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.suite.babylm.bytewise import (
    BYTES,
    WIDTH,
    by_frequency,
    config,
    safetensors,
    submission,
    tokenizer,
    uniform,
    untrained,
)
from mlagentbench.tasks.suite.babylm.grade import grade
from mlagentbench.tasks.suite.babylm.metric import read_texts, word_perplexity
from mlagentbench.tasks.suite.babylm.prepare import SHARED_RUN, Sizes, split

TASK = load_task("BabyLM")
PRELUDE = """
import itertools, json, sys
from pathlib import Path
import torch
sys.path.append(sys.argv[1])
from likelihood import *
from network import *
torch.manual_seed(0)
torch.set_num_threads(1)
"""
CAUSALITY = """
def looks_ahead(length, places, chosen):
    ids = torch.randint(17, (2, length))
    model = LanguageModel(Config(17, length, 2, 2, 8, 12, **chosen)).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights)
    before = model(ids)
    for place in places:
        other = ids.clone()
        other[:, place:] = (other[:, place:] + 1) % 17
        after = model(other)
        assert not torch.equal(before[:, place], after[:, place]), chosen
        if not torch.equal(before[:, :place], after[:, :place]):
            return True
    return False

with torch.inference_mode():
    for choice in itertools.product(*CHOICES.values()):
        chosen = dict(zip(CHOICES, choice))
        assert not looks_ahead(12, range(12), chosen), chosen
        # Attention is computed in blocks: look across their borders as well.
        assert not looks_ahead(600, (31, 64, 511, 512, 599), chosen), chosen
"""
NAIVE = """
def naive(reader, text):
    tokens, context = tokens_of(reader, text), reader.model.config.context
    half, total = context // 2, 0.0
    for place in range(1, len(tokens)):
        # Windows end at the first context, then half a context further each time.
        late = max(0, -(-(place - context) // (context - half)))
        end = min(len(tokens) - 1, context + late * (context - half))
        start = max(0, end - context)
        history = torch.tensor([tokens[start:place]])
        logits = reader.model(history)[0, -1].double()
        total -= logits.log_softmax(-1)[tokens[place]].item()
    return total

reader = load(Path(sys.argv[2]))
texts = ["Short.", "Call me Ishmael. " * 9, "x" * 63, "y" * 64, "é" * 65, "-" * 300]
found = nats_of(reader, texts)
for text, nats in zip(texts, found):
    assert abs(nats / naive(reader, text) - 1) < 1e-6, text
"""
COVERAGE = """
for context, length in itertools.product((2, 3, 7, 8), range(1, 40)):
    tokens = list(range(length + 1))
    counted = []
    for window in windows_of(0, tokens, context):
        assert len(window.inputs) == len(window.targets) <= context
        for history, target in enumerate(window.targets[window.known:], window.known):
            counted.append(target)
            assert history + 1 >= min(target, context / 2)
            assert window.inputs[history] == target - 1
    assert counted == tokens[1:]
"""
ALL_TEXTS = """
from tokenizers import decoders, models
texts = ["".join(t) for n in range(9) for t in itertools.product("ab", repeat=n)]
letters = {"a": 0, "b": 1}
for vocab, merges in ((letters, []), (letters | {"ab": 2}, [("a", "b")])):
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    tokenizer.decoder = decoders.Fuse()
    model = LanguageModel(Config(len(vocab) + 1, 4, 1, 1, 4, 4)).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    print(np.exp(-nats_of(Reader(model, tokenizer), texts)).sum())
"""


@pytest.fixture(scope="module")
def prepared():
    return prepare_task(TASK, default_cache())


@pytest.fixture(scope="module")
def held_out(prepared):
    visible = prepared.public / "data" / "inputs" / "validation.json"
    hidden = prepared.private / "inputs" / "test.json"
    return read_texts(visible), read_texts(hidden)


@pytest.fixture(scope="module")
def in_torch():
    """Run code where torch is: the harness itself has none."""
    python = ensure_agent_env(default_cache(), "torch").path / "bin" / "python"

    def run(code, *arguments):
        command = [python, "-B", "-c", PRELUDE + code, TASK.folder / "starter"]
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def submit(tmp_path):
    def write(files):
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        return tmp_path

    return write


@pytest.fixture
def answers(tmp_path):
    (tmp_path / OUTPUTS).mkdir()
    truth = tmp_path / "test.json"
    truth.write_text(json.dumps(["two words", "three  more\nwords"]))

    def graded(nats):
        array = np.array(nats, float)
        line = f"<f8 {len(array)}\n".encode()
        (tmp_path / OUTPUTS / truth.name).write_bytes(line + array.tobytes())
        return grade(tmp_path, truth)

    return graded


def words_in_a_row(text):
    row = re.findall(r"\w+", text.lower())
    return zip(*(row[place:] for place in range(SHARED_RUN)), strict=False)


@pytest.mark.slow
def test_no_configuration_looks_ahead(in_torch):
    done = in_torch(CAUSALITY)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_token_counts_once_and_knows_half_a_context(in_torch):
    done = in_torch(COVERAGE)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_surprise_is_that_of_a_naive_computation(in_torch, submit):
    done = in_torch(NAIVE, submit(submission(untrained())))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_probabilities_of_all_texts_add_up_to_no_more_than_one(in_torch):
    done = in_torch(ALL_TEXTS)
    one_way_to_cut, several_ways = map(float, done.stdout.split())
    assert 0.9 < one_way_to_cut <= 1, done.stderr
    # The judge counts one way only; a sum over all of them would be larger.
    assert several_ways < one_way_to_cut


@pytest.mark.slow
def test_huge_logits_win_nothing(in_torch, submit):
    weights = by_frequency(["a"])
    weights["head.weight"][:] = 1e30
    code = "print(nats_of(load(Path(sys.argv[2])), ['Call me Ishmael'])[0])"
    done = in_torch(code, submit(submission(weights)))
    assert float(done.stdout) == pytest.approx(16 * math.log(BYTES + 1)), done.stderr


NAN = uniform() | {"norm.weight": np.full(WIDTH, np.nan, "f4")}
UNUSABLE = {
    "drops or alters text": {
        "tokenizer.json": tokenizer(normalizer={"type": "Lowercase"})
    },
    "matter of luck": {
        "tokenizer.json": tokenizer(
            model={"type": "BPE", "dropout": 0.1, "vocab": {"a": 0}, "merges": []}
        )
    },
    "no tokenizer": {"tokenizer.json": b"{}"},
    "no safetensors file": {"model.safetensors": b"\x80\x04cposix\nsystem\n"},
    "NaN": {"model.safetensors": safetensors(NAN)},
    "width must be": {"config.json": config(width=2**60)},
    "are allowed": {"config.json": config(layers=24, width=1024)},
    "exactly these": {"config.json": config(auto_map="model.Model")},
    "not JSON": {"config.json": b"[" * 60_000},
    "heads must be": {"config.json": config(heads=True)},
}
JUDGE = """
for folder in sorted(Path(sys.argv[2]).iterdir()):
    try:
        nats_of(load(folder), ["Call me Ishmael."])
        print(json.dumps("accepted"))
    except UnusableError as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.slow
def test_what_is_no_model_is_refused_for_what_it_is(in_torch, tmp_path):
    sound = submission(uniform())
    for number, files in enumerate(UNUSABLE.values()):
        (tmp_path / f"{number:02}").mkdir()
        for name, content in (sound | files).items():
            (tmp_path / f"{number:02}" / name).write_bytes(content)
    done = in_torch(JUDGE, tmp_path)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(UNUSABLE), done.stderr
    for reason, words in zip(UNUSABLE, said, strict=True):
        assert reason in words


@pytest.mark.slow
def test_truncation_and_padding_of_a_tokenizer_are_switched_off(in_torch, submit):
    code = """
folder = Path(sys.argv[2])
reader = load(folder)
cutting = read_tokenizer(folder / "cutting.json")
texts = ["Call me Ishmael.", "Me."]
assert (nats_of(reader, texts) == nats_of(Reader(reader.model, cutting), texts)).all()
"""
    settings = {
        "truncation": {
            "max_length": 4,
            "stride": 0,
            "strategy": "LongestFirst",
            "direction": "Right",
        },
        "padding": {
            "strategy": {"Fixed": 32},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "<0x00>",
        },
    }
    files = submission(untrained()) | {"cutting.json": tokenizer(**settings)}
    done = in_torch(code, submit(files))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_link_as_checkpoint_is_refused(in_torch, submit, tmp_path_factory):
    folder = submit(submission(uniform()))
    weights = folder / "model.safetensors"
    weights.rename(tmp_path_factory.mktemp("elsewhere") / "weights")
    weights.symlink_to("/proc/self/mem")
    done = in_torch("load(Path(sys.argv[2]))", folder)
    assert "UnusableError: model.safetensors" in done.stderr


@pytest.mark.slow
def test_a_hungry_configuration_is_refused_in_the_sandbox(prepared, submit):
    files = submission(uniform()) | {"config.json": config(layers=24, width=1024)}
    verdict = asyncio.run(grade_saved(TASK, prepared, submit(files), split="visible"))
    assert "parameters; 8000000 are allowed" in verdict.submission_error


@pytest.mark.slow
def test_two_gradings_are_the_same_to_the_last_digit(prepared, held_out, submit):
    _, texts = held_out
    folder = submit(submission(by_frequency(texts)))
    judged = partial(grade_saved, TASK, prepared, folder, split="hidden")
    (score,) = {asyncio.run(judged()).score for _ in range(2)}
    counts = np.bincount(np.frombuffer("".join(texts).encode(), np.uint8))
    # The boundary and every byte were counted once more than they occur.
    shares = (counts + 1) / (counts.sum() + BYTES + 1)
    nats = -(counts * np.log(shares)).sum() + len(texts) * math.log(
        counts.sum() + BYTES + 1
    )
    assert score == pytest.approx(word_perplexity([nats], texts), rel=1e-4)


def test_the_judge_counts_the_words_itself(answers):
    assert answers([3.0, 2.0]) == pytest.approx(math.e)


@pytest.mark.parametrize("nats", [[1], [1, 2, 3], [1, math.nan], [1, -1], [1, 1e9]])
def test_nats_that_are_none_are_refused(answers, nats):
    with pytest.raises(SubmissionError):
        answers(nats)


def test_no_wording_of_a_held_out_text_is_trained_on(prepared, held_out):
    visible, hidden = (
        {run for text in texts for run in words_in_a_row(text)} for texts in held_out
    )
    assert len(hidden) > 20_000
    assert hidden.isdisjoint(visible)
    held = hidden | visible
    for path in (prepared.public / "data" / "train").iterdir():
        for text in read_texts(path):
            assert held.isdisjoint(words_in_a_row(text)), text[:80]


def test_texts_are_clean_and_none_occurs_twice(prepared, held_out):
    train = [
        text
        for path in (prepared.public / "data" / "train").iterdir()
        for text in read_texts(path)
    ]
    texts = [*train, *held_out[0], *held_out[1]]
    assert len(texts) == len({*texts})
    for text in texts:
        assert unicodedata.is_normalized("NFC", text)
        assert text.replace("\n", "").isprintable()
        assert text.strip() == text
        assert "  " not in text
        assert "\n\n" not in text


def test_test_documents_are_dealt_first_and_their_like_is_left_out():
    long = [" ".join(f"{name}{n}" for n in range(40)) for name in "abcdef"]
    documents = [long[0], long[1], f"{long[0]} again", f"{long[1]} again", *long[2:]]
    train, validation, test = split(documents, Sizes(300, 100, 100))
    assert test == [long[0]]
    assert validation == [long[1]]
    assert train == [long[2], long[3], long[4]]
    assert all(one != other for one, other in pairwise(documents))
