"""`mlab compare` as a person or a script meets it."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.paper.fixture import paper_cards, write_paper_experiment
from tests.support.command_line import run
from tests.support.records import card

from mlagentbench.core.scorecard import Starter
from mlagentbench.core.units import Units
from mlagentbench.experiment.experiment import Experiment

OPUS, TURBO = "Claude v3 Opus", "GPT-4-turbo"
compare = partial(run, "compare")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return write_paper_experiment(tmp_path_factory.mktemp("a") / "paper")


def write(folder: Path, cards) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(card.model_dump_json() + "\n" for card in cards)
    (folder / "scorecards.jsonl").write_text(lines)
    return folder


def of(column, **changed):
    chosen = [card for card in paper_cards() if card.model == column]
    return [card.model_copy(update=changed) for card in chosen]


def test_eight_runs_do_not_separate_the_papers_best_two(paper):
    code, out, err = compare(f"{paper}:{OPUS}", f"{paper}:{TURBO}")
    assert (code, err) == (0, "")
    assert "8 runs do not separate them at 5 % over tasks" in out
    assert "success: A 37.5 % (31.6 to 43.8), B 26.0 %" in out
    assert "house-price@1/paper\t8, 8\t100.0 %\t87.5 %\t+12.5" in out
    assert "With 8 runs on 13 tasks a difference under" in out


def test_json_is_one_document_with_the_same_in_it(paper):
    code, out, _ = compare(f"{paper}:original / {OPUS}", f"{paper}:{TURBO}", "--json")
    [pair] = json.loads(out)["pairs"]
    assert code == 0
    assert pair["a"]["name"] == f"original / {OPUS}"
    assert pair["success"]["difference"]["value"] == pytest.approx(0.1154, abs=1e-4)
    assert pair["success"]["permutation_p"] > 0.05
    assert "do not separate" in pair["in_words"]["verdict"]
    assert len(pair["tasks"]) == 13


def test_intervals_without_bounds_are_null_in_json(tmp_path):
    one, two = ([of(model)[0]] for model in (OPUS, TURBO))
    sides = write(tmp_path / "one", one), write(tmp_path / "two", two)
    code, out, _ = compare(*sides, "--json")
    [pair] = json.loads(out, parse_constant=pytest.fail)["pairs"]
    assert code == 0
    assert pair["improvement"]["difference"]["low"] is None


def test_noise_of_the_test_set_is_paired_by_the_units_of_both(tmp_path):
    reference = Starter(mean=50.0, sd=1.0, n=8)
    facts = {"gap_closed": 0.2, "improvement": 0.1, "reference": reference}
    sides = []
    for name in ("one", "two"):
        cards = [card("toy", n, agent=name, score=90.0, **facts) for n in range(3)]
        sides.append(write(tmp_path / name, cards))
        for one in cards:
            units = Units(values=tuple((80.5 + n,) for n in range(20)))
            Experiment(tmp_path / name).write_units(one.run, units)
    (pair,) = json.loads(compare(*sides, "--json").out)["pairs"]
    assert pair["paired_tasks"] == ["toy@1/mini"]


def test_more_sides_are_compared_in_pairs_with_correction(paper):
    code, out, _ = compare(*(f"{paper}:{name}" for name in (OPUS, TURBO, "Mixtral")))
    assert code == 0
    assert out.count("\nB: original / ") == 3
    assert "8 runs separate them at 5 % over tasks: original / Claude v3 Opus" in out
    assert "after Holm's correction for 3 comparisons" in out


def test_an_unknown_name_lists_those_there_are(paper):
    code, out, err = compare(f"{paper}:GPT-5", f"{paper}:{TURBO}")
    assert (code, out) == (2, "")
    assert "has no agent or model 'GPT-5'; choose from: original / GPT-4, or" in err
    assert err.count("\n") == 1


def test_a_side_that_holds_several_must_be_named(paper):
    code, _, err = compare(paper, f"{paper}:{TURBO}")
    assert code == 2
    assert "NAME one of: original / GPT-4, " in err
    assert "holds several agents or models; name one as" in err


def test_an_agent_with_settings_is_another_agent(tmp_path):
    cards = [*of(OPUS, agent="research"), *of(OPUS, agent="research[style=classic]")]
    both = write(
        tmp_path / "both",
        [card.model_copy(update={"run": f"{n}"}) for n, card in enumerate(cards)],
    )
    code, _, err = compare(f"{both}:{OPUS}", both)
    assert code == 2
    assert "research / Claude v3 Opus, research[style=classic] / Claude v3" in err
    code, out, _ = compare(f"{both}:research", f"{both}:research[style=classic]")
    assert code == 0
    assert "B: research[style=classic] / Claude v3 Opus" in out


def test_folders_and_models_may_have_colons_in_their_names(tmp_path):
    folder = write(tmp_path / "a:b", of(OPUS, model="local/m:7b"))
    code, out, _ = compare(f"{folder}:local/m:7b", write(tmp_path / "c", of(TURBO)))
    assert code == 0
    assert "A: original / local/m:7b" in out


def test_the_same_agent_in_two_experiments_is_told_apart(tmp_path):
    sides = [write(tmp_path / name, of(OPUS)) for name in ("one", "two")]
    _, out, _ = compare(*sides)
    assert (
        f"A: original / {OPUS} in {sides[0]}\nB: original / {OPUS} in {sides[1]}" in out
    )


def test_wrong_words_get_one_sentence(paper, tmp_path):
    side = f"{paper}:{OPUS}"
    for words, hint in (
        ([side], "name two experiments"),
        ([side, side], "is named twice"),
        ([side, tmp_path / "nowhere"], "is not an experiment"),
        ([side, tmp_path], "is not an experiment"),
    ):
        code, out, err = compare(*words)
        assert (code, out) == (2, "")
        assert hint in err


def test_a_damaged_line_is_told_and_the_rest_is_compared(tmp_path):
    folder = write(tmp_path / "x", of(OPUS))
    with (folder / "scorecards.jsonl").open("a") as file:
        file.write('{"run": \n')
    code, out, err = compare(folder, write(tmp_path / "y", of(TURBO)))
    assert code == 0
    assert "scorecards.jsonl, line 105" in " ".join(err.split())
    assert "8 runs do not separate" in out


def test_comparing_starts_no_engine(paper):
    code = (
        "import sys\nfrom mlagentbench.cli.main import main\n"
        f"try: main(['compare', '{paper}:{OPUS}', '{paper}:{TURBO}'])\n"
        "except SystemExit as end: print(end.code, 'inspect_ai' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.endswith("0 False\n")
