"""A judge says what it thinks of a run, and nothing else changes."""

import json
import shutil

import pytest
from fake_models import judges
from tests.support.quick_task import QUICK_TASK

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

TOKENS = 120


def plan(out, **more):
    given = {"agent": "starter", "seeds": (0, 1)} | more
    return Plan(tasks=(str(QUICK_TASK),), out=out, name="exp", **given)


def judge(name, votes=3):
    return Judge(model=f"scripted/fake_models.judges:{name}", votes=votes)


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory, cache):
    """Two runs that no judge was asked about."""
    return run(plan(tmp_path_factory.mktemp("unjudged")), cache=cache)


@pytest.fixture
def experiment(unjudged, tmp_path):
    """The same two runs, to do with as a test likes."""
    copy = shutil.copytree(unjudged.folder, tmp_path / "exp")
    return Experiment(copy, unjudged.named)


@pytest.fixture(autouse=True)
def no_requests_yet():
    judges.HEARD.clear()


def cards(experiment):
    found, warnings = experiment.scorecards, experiment.warnings
    assert warnings == []
    return found


def ask(experiment, name, votes=3, **how):
    ask_judge(experiment, judge(name, votes), Silent(), **how)
    return [card.opinion for card in cards(experiment)]


def without_opinions(experiment):
    return [card.model_dump(exclude={"opinion"}) for card in cards(experiment)]


def test_an_opinion_changes_nothing_else_on_a_card(experiment):
    before = without_opinions(experiment)
    first, second = ask(experiment, "fair")
    assert without_opinions(experiment) == before
    assert first == second
    assert {name: mark.votes for name, mark in first.marks.items()} == dict.fromkeys(
        CRITERIA, (4, 4, 4)
    ) | {"honesty": (5, 5, 5)}
    assert first.agrees_with_itself == 1
    assert first.marks["plan"].quote == "Step 2 shows it."


def test_tokens_and_cost_of_a_judge_are_in_its_opinion_and_not_in_the_run(experiment):
    price = Price(input=1_000, output=10_000)
    opinion, _ = ask(experiment, "fair", prices={judge("fair").model: price})
    assert opinion.tokens == 3 * TOKENS
    assert opinion.cost_usd == pytest.approx(3 * (0.1 + 0.2))
    assert all(card.tokens["input"] == 0 for card in cards(experiment))


def test_a_judge_that_wavers_is_said_to_disagree_with_itself(experiment):
    opinion, _ = ask(experiment, "torn", votes=5)
    assert sorted(opinion.marks["plan"].votes) == [1, 2, 3, 4, 5]
    assert opinion.agrees_with_itself == 0.4


def test_votes_that_cannot_be_read_are_counted_and_never_guessed(experiment):
    opinion, _ = ask(experiment, "mumbling")
    assert opinion.unreadable == 3
    assert opinion.marks == {}


def test_votes_given_before_are_not_asked_for_again(experiment):
    ask(experiment, "fair")
    assert len(judges.HEARD) == 6
    ask(experiment, "fair")
    assert len(judges.HEARD) == 6
    ask(experiment, "fair", votes=4)
    assert len(judges.HEARD) == 8
    ask(experiment, "fair", votes=4, again=True)
    assert len(judges.HEARD) == 16


def test_another_judge_replaces_the_first_whose_votes_are_kept(experiment):
    before = ask(experiment, "fair")
    assert ask(experiment, "mumbling") != before
    judges.HEARD.clear()
    assert ask(experiment, "fair") == before
    assert judges.HEARD == []


def test_a_provider_that_fails_leaves_the_card_as_it_is_and_a_reason(experiment):
    before = cards(experiment)
    ask(experiment, "failing")
    assert cards(experiment) == before
    (warning,) = missing_opinions(experiment)
    assert "gave no opinion on 2 runs" in warning
    assert "the provider is down for good" in warning
    ask(experiment, "fair")
    assert missing_opinions(experiment) == []


def test_a_model_that_does_not_exist_is_a_reason_too(experiment):
    ask_judge(experiment, Judge(model="nonsense/model"), Silent())
    assert [card.opinion for card in cards(experiment)] == [None, None]
    (warning,) = missing_opinions(experiment)
    assert "the judge nonsense/model gave no opinion on 2 runs" in warning


def test_a_vote_that_came_before_the_failure_is_not_paid_for_twice(experiment):
    opinions = ask(experiment, "failing_later")
    assert opinions == [None, None]
    kept = [entry for entry in VotesFile(experiment).entries if entry.kind == "vote"]
    assert len(kept) == 1


def test_an_opinion_stands_where_more_votes_could_not_be_had(experiment, monkeypatch):
    before = ask(experiment, "fair")
    monkeypatch.setattr(judges, "fair", judges.failing)
    assert ask(experiment, "fair", again=True) == before
    (warning,) = missing_opinions(experiment)
    assert "gave no more votes on 2 runs" in warning


def test_a_damaged_line_costs_one_vote_and_no_more(experiment):
    ask(experiment, "fair")
    votes = experiment.folder / "opinions.jsonl"
    first, *rest = votes.read_bytes().splitlines(keepends=True)
    votes.write_bytes(first[:40] + b"\n" + b"".join(rest))
    judges.HEARD.clear()
    assert all(opinion.unreadable == 0 for opinion in ask(experiment, "fair"))
    assert len(judges.HEARD) == 1


def test_a_run_that_does_not_count_is_not_judged(experiment):
    first, second = cards(experiment)
    broken = first.model_copy(update={"ending": Ending.BROKEN})
    experiment.replace_scorecards([broken, second])
    opinions = ask(experiment, "fair")
    assert [opinion is None for opinion in opinions] == [True, False]


def test_a_run_whose_trace_is_damaged_has_no_opinion_and_a_reason(experiment):
    first, _ = experiment.runs()
    experiment.trace_path(first).write_bytes(b"{}\n")
    opinions = ask(experiment, "fair")
    assert [opinion is None for opinion in opinions] == [True, False]
    assert "damaged" in missing_opinions(experiment)[0]


def test_judging_again_without_a_judge_asks_no_model_and_keeps_opinions(
    experiment, cache
):
    before = ask(experiment, "fair")
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


def test_score_asks_a_judge_and_keeps_its_opinion_if_the_next_judge_fails(
    mlab, experiment
):
    words = ("score", str(experiment.folder), "--role")
    said = mlab(*words, "judge=scripted/fake_models.judges:fair", "--json")
    assert said.code == 0, said.err
    cards = json.loads(said.out)["scorecards"]
    assert [len(card["opinion"]["marks"]["plan"]["votes"]) for card in cards] == [3, 3]
    said = mlab(*words, "judge=scripted/fake_models.judges:failing")
    assert said.code == 0
    assert "gave no opinion on 2 runs" in said.err
    kept = [card.opinion.model for card in experiment.scorecards]
    assert kept == ["scripted/fake_models.judges:fair"] * 2


def test_run_takes_a_judge_without_another_model(mlab):
    role = ("--role", "judge=scripted/fake_models.judges:fair", "--votes", "1")
    said = mlab("run", str(QUICK_TASK), "--agent", "starter", *role, "--json")
    assert said.code == 0, said.err
    (card,) = json.loads(said.out)["scorecards"]
    assert card["model"] == "none"
    assert card["opinion"]["marks"]["plan"]["votes"] == [4]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("score", "x", "--votes", "3"), "--votes also needs --role judge=MODEL"),
        (("score", "x", "--role", "editor=m"), "judge=MODEL here"),
        (("score", "x", "--role", "judge"), "judge=MODEL here"),
        (("run", "house-price", "--role", "judge="), "--role takes ROLE=MODEL"),
        (("run", "house-price", "--role", "critic=m"), "editor, helper, judge"),
        (("run", "x", "--votes", "2"), "--votes also needs --role judge=MODEL"),
    ],
)
def test_a_judge_that_is_asked_for_wrongly_is_refused_at_once(mlab, words, hint):
    said = mlab(*words)
    assert said.code == 2
    assert hint in said.err
