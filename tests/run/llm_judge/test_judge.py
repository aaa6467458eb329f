"""Votes of a judge whose provider may fail."""

import pytest
from fake_models import judges

from mlagentbench.core.progress import Silent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Judge, RetryLimits
from mlagentbench.experiment.votes_file import VotesFile
from mlagentbench.run.llm_judge.judge import JudgeSession
from mlagentbench.run.llm_judge.prompt import JudgeQuestion

QUESTIONS = [
    JudgeQuestion(f"t:a:m:{seed}", 1, "Predict y.", "{}") for seed in range(20)
]


@pytest.fixture
def file(tmp_path):
    judges.HEARD.clear()
    return VotesFile(Experiment(tmp_path))


def ask(file, name):
    judge = Judge(model=f"scripted/fake_models.judges:{name}", votes=2)
    session = JudgeSession(judge, RetryLimits(), file)
    session.ask(QUESTIONS, Silent())
    return session


def kinds(file):
    return [entry.kind for entry in file.entries]


def test_every_run_gets_the_wanted_number_of_votes(file):
    session = ask(file, "fair")
    assert kinds(file) == ["vote"] * 40
    assert [session.missing(one) for one in QUESTIONS] == [[]] * 20


def test_after_repeated_provider_failures_other_runs_are_not_asked_about(
    file,
):
    ask(file, "failing")
    assert kinds(file) == ["refusal"] * 20
    assert len(judges.HEARD) < 10
    assert "down for good" in file.entries[0].why
    assert "not asked any more" in file.entries[-1].why


def test_votes_are_read_back_from_disk(file, tmp_path):
    ask(file, "fair")
    assert VotesFile(Experiment(tmp_path)).entries == file.entries


def test_a_vote_on_another_transcript_or_attempt_does_not_count(file):
    session = ask(file, "fair")
    other = JudgeQuestion("t:a:m:0", 1, "Predict y.", '{"step": 1}')
    assert session.missing(other) == [0, 1]
    assert session.missing(JudgeQuestion("t:a:m:0", 2, "Predict y.", "{}")) == [0, 1]
