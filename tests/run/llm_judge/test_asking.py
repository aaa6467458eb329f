"""Asking a judge whose provider may fail."""

import pytest
from voices import judges

from mlagentbench.core.progress import Silent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Judge, RetryLimits
from mlagentbench.experiment.votes_file import VotesFile
from mlagentbench.run.llm_judge.judge import JudgeSession
from mlagentbench.run.llm_judge.prompt import JudgeQuestion

CASES = [JudgeQuestion(f"t:a:m:{seed}", 1, "Predict y.", "{}") for seed in range(20)]


@pytest.fixture
def box(tmp_path):
    judges.HEARD.clear()
    return VotesFile(Experiment(tmp_path))


def ask(box, voice):
    judge = Judge(model=f"scripted/voices.judges:{voice}", votes=2)
    hearing = JudgeSession(judge, RetryLimits(), box)
    hearing.ask([(case, hearing.unasked(case)) for case in CASES], Silent())
    return hearing


def kinds(box):
    return [entry.kind for entry in box.entries]


def test_every_run_is_asked_about_as_often_as_wanted(box):
    hearing = ask(box, "fair")
    assert kinds(box) == ["vote"] * 40
    assert [hearing.unasked(case) for case in CASES] == [[]] * 20


def test_a_provider_that_fails_again_and_again_is_not_waited_for_on_every_run(box):
    ask(box, "failing")
    assert kinds(box) == ["refusal"] * 20
    assert len(judges.HEARD) < 10
    assert "down for good" in box.entries[0].why
    assert "not asked any more" in box.entries[-1].why


def test_votes_are_read_back_from_disk_as_they_were(box, tmp_path):
    ask(box, "fair")
    assert VotesFile(Experiment(tmp_path)).entries == box.entries


def test_a_vote_on_another_telling_of_the_run_does_not_count(box):
    hearing = ask(box, "fair")
    told_anew = JudgeQuestion("t:a:m:0", 1, "Predict y.", '{"step": 1}')
    assert hearing.unasked(told_anew) == [0, 1]
    assert hearing.unasked(JudgeQuestion("t:a:m:0", 2, "Predict y.", "{}")) == [0, 1]
