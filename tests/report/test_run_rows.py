from mlagentbench.core.scorecard import (
    BestStep,
    BudgetPoint,
    FailureMode,
    FirstSuccess,
    RunId,
)
from mlagentbench.core.trace import Ending, Trace
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.number_format import caps
from mlagentbench.report.page import render
from mlagentbench.report.run_rows import run_rows, ungraded_rows


def view_with(*cards, **more):
    return ExperimentView(title="t", created="now", cards=cards, **more)


def row_of(card, **more):
    return run_rows(view_with(card, **more), caps(1))[0]


def facts_of(card):
    return row_of(card).facts


def test_a_run_is_written_with_its_unit_and_verdict(card):
    page = render(view_with(card(), card(seed=1)))
    for shown in ("17,901", "+14.9 %", "1 min 15 s"):
        assert f'class="num">{shown}</td>' in page
    assert facts_of(card())["Success"].startswith("yes (significant: outside")


def test_what_is_not_known_is_left_out_of_a_runs_facts(card):
    facts = facts_of(card())
    absent = {
        "Gap to the reference closed",
        "Cost",
        "Tokens",
        "First success",
        "With fewer steps",
    }
    assert not absent & set(facts)
    assert facts["Actions"] == "write_file 1, execute 1, final_answer 1"


def test_what_is_known_of_a_run_is_said(card):
    run = card(
        score_ci=(17000.0, 18500.0), gap_closed=0.62, cost_usd=0.42, attempt=2,
        best_step=BestStep(step=2, score=17500.0), resumed=3, errors={"timeout": 3},
    )  # fmt: skip
    expected = {
        "95 % interval of the score": "17,000 to 18,500",
        "Gap to the reference closed": "+62.0 %",
        "Best graded step": "17,500 at step 2",
        "Improvement below the best step": "+1.9 %", "Cost": "$0.42",
        "Attempt": "2", "Resumed": "3 times", "Errors": "timeout 3",
    }  # fmt: skip
    assert expected.items() <= facts_of(run).items()


def test_what_a_run_cost_until_it_first_succeeded_is_said(card):
    facts = facts_of(
        card(
            first_success=FirstSuccess(step=6, seconds=90, tokens=1200, cost_usd=0.5),
            steps=20,
            by_budget=(
                BudgetPoint(steps=10, score=None),
                BudgetPoint(steps=20, score=17900.0, success=True),
            ),
            tokens={"input": 1500, "output": 20, "cached": 0, "agent": {"input": 1}},
            failure=FailureMode.BAD_PLAN,
        )
    )
    assert facts["First success"] == "step 6, 1 min 30 s, 1,200 tokens, $0.50"
    assert facts["With fewer steps"] == "10 steps: none"
    assert facts["Tokens"] == "1,500 input, 20 output, 0 cached"
    assert facts["Failure mode"] == "bad plan"


def test_every_reason_a_run_has_is_given(card):
    row = row_of(card(ending=Ending.CRASHED, reason="boom", submission_error="no file"))
    assert row.why == "no file; boom"


def test_anchors_are_never_made_of_hostile_names(card):
    assert row_of(card(agent='"><script>')).anchor == "run-1"


def test_a_starter_nobody_measured_is_not_shown_as_a_number(card):
    unmeasured = {"starter": None, "improvement": None}
    page = render(view_with(card(**unmeasured), card(seed=1, **unmeasured)))
    assert 'data-value="" class="num">not measured</td>' in page


def test_endless_names_of_actions_stay_short(card):
    facts = facts_of(card(actions={"<" * 10_000: 1}, errors={"'" * 10_000: 2}))
    assert len(facts["Actions"]) < 400
    assert len(facts["Errors"]) < 400


def test_a_run_nobody_judged_keeps_its_steps(step):
    trace = Trace(run="lost", steps=(step("lost"),))
    (row,) = ungraded_rows(view_with(traces=(trace,)), caps(1))
    assert (row.run, row.id, len(row.details.steps)) == ("lost", None, 1)


def test_a_run_that_was_asked_for_and_left_nothing_has_a_row(card):
    done = card()
    runs = [
        RunId(task="house-price", agent="tuner", model="none", seed=seed)
        for seed in (0, 1)
    ]
    asked = {str(run): run for run in runs}
    (row,) = ungraded_rows(view_with(done, asked=asked), caps(1))
    assert row.run == "house-price:tuner:none:1"
    assert row.id == runs[1]
    assert row.details.total_steps == 0
