"""Agents over the network, with a provider that fails in every way."""

from contextlib import contextmanager

import pytest
from fake_models import refused
from fake_models.cases import CASES
from loopback import provider
from tests.support.quick_task import QUICK_TASK
from thinking import plan_for, trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import Plan, RetryLimits
from mlagentbench.run.pipeline import resume, run

FAULTS = ("rate_limit", "failure", "malformed", "hang", "break_off")
NO_RETRIES = RetryLimits(max_retries=0)


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Serve a case's model; yield the server and the plan of a run that uses it."""

    @contextmanager
    def serving(case, faults=(), **options):
        with provider(case.model, faults) as server:
            for name, value in server.environment.items():
                monkeypatch.setenv(name, value)
            yield server, plan_for(case, tmp_path, model=server.model, **options)

    return serving


# Every fifth case: each protocol, with and without streaming.
@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_an_agent_does_the_same_over_the_network(case, serve, cache):
    streaming = CASES.index(case) % 2 == 0
    with serve(case, model_args={"stream": streaming}) as (server, plan):
        experiment = run(plan, cache=cache)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.score is not None
    measured = [s.validation.value for s in trace_of(experiment).steps if s.validation]
    assert min(measured) < measured[0]
    assert all(bool(one.get("stream")) == streaming for one in server.requests)


@pytest.mark.slow
@pytest.mark.parametrize("streaming", [True, False])
def test_a_run_survives_the_faults_of_a_provider(streaming, serve, cache):
    patience = RetryLimits(max_retries=8, attempt_timeout=4)
    options = {"model_args": {"stream": streaming}, "patience": patience}
    with serve(CASES[0], FAULTS, **options) as (server, plan):
        (card,) = run(plan, cache=cache).scorecards
        assert not server.faults
    assert card.ending is Ending.SUBMITTED, card.reason


def test_a_provider_that_fails_for_good_is_not_the_agents_failure(serve, cache):
    with serve(CASES[0], ("refusal",) * 3, patience=NO_RETRIES) as (server, plan):
        experiment = run(plan, cache=cache)
        (card,) = experiment.scorecards
        assert card.ending is Ending.PROVIDER_ERROR
        assert card.score is None
        server.faults.clear()
        resume(experiment, cache=cache)
        (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason


def test_a_key_is_written_nowhere(serve, cache):
    with serve(CASES[0], ("refusal",), patience=NO_RETRIES) as (server, plan):
        experiment = run(plan, cache=cache)
        resume(experiment, cache=cache)
        secret = server.environment["LOOPBACK_API_KEY"].encode()
    kept = [path for path in experiment.folder.rglob("*") if path.is_file()]
    assert len(kept) > 5
    assert not [path for path in kept if secret in path.read_bytes()]


OUTAGE = RuntimeError("503 Service Unavailable")
BAD_REPLY = KeyError("choices")


@pytest.fixture
def sessions(tmp_path, cache, monkeypatch):
    """Run a model that works for one step, once for each error; return the cards."""

    def ended(*errors):
        model = f"scripted/{refused.__name__}:respond"
        plan = Plan(
            tasks=(str(QUICK_TASK),), agent="bash", settings={"protocol": "text"},
            model=model, name="exp", out=tmp_path,
        )  # fmt: skip
        monkeypatch.setattr(refused, "error", errors[0])
        experiment = run(plan, cache=cache)
        cards = list(experiment.scorecards)
        for error in errors[1:]:
            monkeypatch.setattr(refused, "error", error)
            resume(experiment, cache=cache)
            cards += experiment.scorecards
        return cards

    return ended


def test_a_second_void_in_a_row_by_the_models_own_reply_counts(sessions):
    first, second = sessions(BAD_REPLY, BAD_REPLY)
    assert first.ending is Ending.PROVIDER_ERROR
    assert first.reason.startswith("the model's own reply made its provider fail: ")
    assert first.score is None
    assert second.ending is Ending.STOPPED
    assert second.reason.startswith("twice in a row the model's own reply")
    # The starter's submission is graded: a score, and no success.
    assert second.score is not None
    assert not second.success


@pytest.mark.slow
def test_voids_by_outages_never_count(sessions):
    cards = sessions(BAD_REPLY, OUTAGE, BAD_REPLY, OUTAGE, OUTAGE)
    assert [card.ending for card in cards] == [Ending.PROVIDER_ERROR] * 5
    assert "503 Service Unavailable" in cards[-1].reason
