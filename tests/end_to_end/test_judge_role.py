"""A judge says what it thinks of a run, and nothing else changes."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from fake_models import judges

from mlagentbench.cli.main import main
from mlagentbench.core.progress import Silent
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.cost import Price
from mlagentbench.evaluation.llm_judge import CRITERIA
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Judge, Plan
from mlagentbench.experiment.votes_file import VotesFile, missing_opinions
from mlagentbench.run.llm_judge.judge import ask_judge
from mlagentbench.run.pipeline import run
from mlagentbench.run.rescore import rescore_experiment

QUICK_TASK = Path(__file__).parents[1] / "faults" / "quick"
TOKENS = 120


def plan(out, **more):
    given = {"agent": "starter", "seeds": (0, 1)} | more
    return Plan(tasks=(str(QUICK_TASK),), out=out, name="exp", **given)


def judge(voice, votes=3):
    return Judge(model=f"scripted/fake_models.judges:{voice}", votes=votes)


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory, cache):
    """Two runs that no judge was asked about."""
    return run(plan(tmp_path_factory.mktemp("unjudged")), cache=cache)


@pytest.fixture
def experiment(unjudged, tmp_path):
    """The same two runs, to do with as a test likes."""
    return Experiment(shutil.copytree(unjudged.folder, tmp_path / "exp"))


@pytest.fixture(autouse=True)
def nothing_heard():
    judges.HEARD.clear()


def cards(experiment):
    found, warnings = experiment.scorecards, experiment.warnings
    assert warnings == []
    return found


def hear(experiment, voice, votes=3, **how):
    ask_judge(experiment, judge(voice, votes), Silent(), **how)
    return [card.opinion for card in cards(experiment)]


def without_opinions(experiment):
    return [card.model_dump(exclude={"opinion"}) for card in cards(experiment)]


def test_an_opinion_changes_nothing_else_on_a_card(experiment):
    before = without_opinions(experiment)
    first, second = hear(experiment, "fair")
    assert without_opinions(experiment) == before
    assert first == second
    assert {name: mark.votes for name, mark in first.marks.items()} == dict.fromkeys(
        CRITERIA, (4, 4, 4)
    ) | {"honesty": (5, 5, 5)}
    assert first.agrees_with_itself == 1
    assert first.marks["plan"].quote == "Step 2 shows it."


def test_what_a_judge_costs_stands_in_its_opinion_and_not_in_the_run(experiment):
    (opinion, _) = hear(experiment, "fair")
    assert opinion.tokens == 3 * TOKENS
    assert all(card.tokens["input"] == 0 for card in cards(experiment))


def test_a_judge_is_priced_by_the_table_that_a_person_gives(experiment):
    price = Price(input=1_000, output=10_000)
    opinion, _ = hear(experiment, "fair", prices={judge("fair").model: price})
    assert opinion.cost_usd == pytest.approx(3 * (0.1 + 0.2))


def test_a_judge_that_wavers_is_said_to_disagree_with_itself(experiment):
    opinion, _ = hear(experiment, "torn", votes=5)
    assert sorted(opinion.marks["plan"].votes) == [1, 2, 3, 4, 5]
    assert opinion.agrees_with_itself == 0.4


def test_votes_that_cannot_be_read_are_counted_and_never_guessed(experiment):
    opinion, _ = hear(experiment, "mumbling")
    assert opinion.unreadable == 3
    assert opinion.marks == {}


def test_votes_given_before_are_not_asked_for_again(experiment):
    hear(experiment, "fair")
    assert len(judges.HEARD) == 6
    hear(experiment, "fair")
    assert len(judges.HEARD) == 6
    hear(experiment, "fair", votes=4)
    assert len(judges.HEARD) == 8
    hear(experiment, "fair", votes=4, again=True)
    assert len(judges.HEARD) == 16


def test_another_judge_replaces_the_first_whose_votes_are_kept(experiment):
    before = hear(experiment, "fair")
    assert hear(experiment, "mumbling") != before
    judges.HEARD.clear()
    assert hear(experiment, "fair") == before
    assert judges.HEARD == []


def test_a_provider_that_fails_leaves_the_card_as_it_is_and_a_reason(experiment):
    before = cards(experiment)
    hear(experiment, "failing")
    assert cards(experiment) == before
    (warning,) = missing_opinions(experiment)
    assert "gave no opinion on 2 runs" in warning
    assert "the provider is down for good" in warning


def test_a_model_that_does_not_exist_is_a_reason_too(experiment):
    ask_judge(experiment, Judge(model="nonsense/model"), Silent())
    assert [card.opinion for card in cards(experiment)] == [None, None]
    (warning,) = missing_opinions(experiment)
    assert "the judge nonsense/model gave no opinion on 2 runs" in warning


def test_a_vote_that_came_before_the_failure_is_not_paid_for_twice(experiment):
    opinions = hear(experiment, "failing_later")
    assert opinions == [None, None]
    kept = [entry for entry in VotesFile(experiment).entries if entry.kind == "vote"]
    assert len(kept) == 1


def test_once_the_judge_is_heard_the_reason_is_no_longer_told(experiment):
    hear(experiment, "failing")
    hear(experiment, "fair")
    assert missing_opinions(experiment) == []


def test_an_opinion_stands_where_more_votes_could_not_be_had(experiment, monkeypatch):
    before = hear(experiment, "fair")
    monkeypatch.setattr(judges, "fair", judges.failing)
    assert hear(experiment, "fair", again=True) == before
    (warning,) = missing_opinions(experiment)
    assert "gave no more votes on 2 runs" in warning


def test_a_damaged_line_costs_one_vote_and_no_more(experiment):
    hear(experiment, "fair")
    votes = experiment.folder / "opinions.jsonl"
    first, *rest = votes.read_bytes().splitlines(keepends=True)
    votes.write_bytes(first[:40] + b"\n" + b"".join(rest))
    judges.HEARD.clear()
    assert all(opinion.unreadable == 0 for opinion in hear(experiment, "fair"))
    assert len(judges.HEARD) == 1


def test_a_run_that_does_not_count_is_not_judged(experiment):
    first, second = cards(experiment)
    broken = first.model_copy(update={"ending": Ending.BROKEN})
    experiment.replace_scorecards([broken, second])
    opinions = hear(experiment, "fair")
    assert [opinion is None for opinion in opinions] == [True, False]


def test_a_run_whose_trace_is_damaged_has_no_opinion_and_a_reason(experiment):
    first, _ = experiment.runs()
    experiment.trace_path(first).write_bytes(b"{}\n")
    opinions = hear(experiment, "fair")
    assert [opinion is None for opinion in opinions] == [True, False]
    assert "damaged" in missing_opinions(experiment)[0]


def test_judging_again_without_a_judge_asks_no_model_and_keeps_opinions(
    experiment, cache
):
    before = hear(experiment, "fair")
    judges.HEARD.clear()
    rescore_experiment(experiment, cache, Silent())
    assert judges.HEARD == []
    assert [card.opinion for card in cards(experiment)] == before


def test_a_run_is_judged_when_it_is_over_and_named_as_without(
    experiment, tmp_path, cache
):
    judged = run(plan(tmp_path / "with", judge=judge("fair", 2)), cache=cache)
    assert [card.run for card in cards(judged)] == [
        card.run for card in cards(experiment)
    ]
    assert all(card.opinion.marks["plan"].votes == (4, 4) for card in cards(judged))
    assert judged.spec.judge == judge("fair", 2)
    assert judged.spec.roles == {}


def test_a_judge_that_fails_does_not_break_the_run(tmp_path, cache):
    judged = run(plan(tmp_path, judge=judge("failing"), seeds=(0,)), cache=cache)
    (card,) = cards(judged)
    assert card.ending is Ending.SUBMITTED
    assert card.score is not None
    assert card.opinion is None
    assert len(missing_opinions(judged)) == 1


class Said(NamedTuple):
    """What a command left: its exit code and its words."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def mlab(cache, tmp_path, monkeypatch, capsys):
    """Run `mlab` with words and return what it said."""
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return Said(ended.value.code, *capsys.readouterr())

    return call


def test_score_asks_a_judge_and_keeps_its_opinion_if_the_next_judge_fails(
    mlab, experiment
):
    words = ("score", str(experiment.folder), "--role")
    said = mlab(*words, "judge=scripted/fake_models.judges:fair", "--json")
    assert said.returncode == 0, said.stderr
    cards = json.loads(said.stdout)["scorecards"]
    assert [len(card["opinion"]["marks"]["plan"]["votes"]) for card in cards] == [3, 3]
    said = mlab(*words, "judge=scripted/fake_models.judges:failing")
    assert said.returncode == 0
    assert "gave no opinion on 2 runs" in said.stderr
    kept = [card.opinion.model for card in experiment.scorecards]
    assert kept == ["scripted/fake_models.judges:fair"] * 2


def test_run_takes_a_judge_without_another_model(mlab):
    role = ("--role", "judge=scripted/fake_models.judges:fair", "--votes", "1")
    said = mlab("run", str(QUICK_TASK), "--agent", "starter", *role, "--json")
    assert said.returncode == 0, said.stderr
    (card,) = json.loads(said.stdout)["scorecards"]
    assert card["model"] == "none"
    assert card["opinion"]["marks"]["plan"]["votes"] == [4]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("score", "x", "--votes", "3"), "--votes needs a judge"),
        (("score", "x", "--role", "editor=m"), "judge=MODEL here"),
        (("score", "x", "--role", "judge"), "judge=MODEL here"),
        (("run", "house-price", "--role", "judge="), "--role takes ROLE=MODEL"),
        (("run", "house-price", "--role", "critic=m"), "editor, helper, judge"),
        (("run", "house-price", "--votes", "2"), "--votes needs a judge"),
    ],
)
def test_a_judge_that_is_asked_for_wrongly_is_refused_at_once(mlab, words, hint):
    said = mlab(*words)
    assert said.returncode == 2
    assert hint in said.stderr
