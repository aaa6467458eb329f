from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import BestStep
from mlagentbench.core.trace import Measurement, Trace
from mlagentbench.report.rows import run_rows, unjudged_rows
from mlagentbench.report.steps import step_rows
from mlagentbench.report.view import ExperimentView


def row_of(card, **more):
    return run_rows(ExperimentView(title="t", created="now", cards=(card,), **more))[0]


def facts_of(card):
    return {fact.label: fact.text for fact in row_of(card).facts}


def test_a_run_is_written_with_its_unit_and_verdict(card):
    row = row_of(card())
    assert row.score == "17,901"
    assert row.improvement == "+14.9 %"
    assert row.verdict == "yes, beyond the starter's noise"
    assert row.time == "1 min 15 s"


def test_what_is_not_known_is_left_out_of_a_runs_facts(card):
    facts = facts_of(card())
    assert "Gap closed" not in facts
    assert "Cost" not in facts
    assert facts["Actions"] == "write_file 1, execute 1, final_answer 1"


def test_what_is_known_of_a_run_is_said(card):
    facts = facts_of(
        card(
            score_ci=(17000.0, 18500.0),
            gap_closed=0.62,
            best_step=BestStep(step=2, score=17500.0),
            cost_usd=0.42,
            attempt=2,
            errors={"timeout": 3},
        )
    )
    assert facts["Score interval"] == "17,000 to 18,500"
    assert facts["Gap closed"] == "+62.0 %"
    assert facts["Best step"] == "17,500 at step 2"
    assert facts["Cost"] == "$0.42"
    assert facts["Attempt"] == "2"
    assert facts["Failures"] == "timeout 3"


def test_every_reason_a_run_has_is_given(card):
    row = row_of(card(ending=Ending.CRASHED, reason="boom", submission_error="no file"))
    assert row.why == "no file; boom"


def test_anchors_are_never_made_of_hostile_names(card):
    assert row_of(card(agent='"><script>')).anchor == "run-1"


def test_a_starter_nobody_measured_is_not_shown_as_a_number(card):
    assert row_of(card(starter=None, improvement=None)).starter == "not measured"


def test_a_step_is_cut_to_its_first_lines(step):
    long = "\n".join(str(number) for number in range(1000))
    one = step("r", input={"content": long, "lines": [1, 2]}, observation=long)
    (row,) = step_rows(Trace(run="r", steps=(one,)))
    assert row.observation.startswith("0\n1\n2\n3\n4\n5 ... (")
    assert row.input[0].text.startswith("0\n1\n2\n3 ... (")
    assert row.input[1].text == "[1, 2]"


def test_a_step_tells_its_validation_its_failure_and_its_time(step):
    measured = Measurement(metric="MAE", value=20321.7)
    one = step("r", validation=measured, ok=False, error="time_out")
    (row,) = step_rows(Trace(run="r", steps=(one,)), "USD")
    assert row.validation == "20,322 USD"
    assert row.failed == "time out"
    assert row.seconds == "4.0 s"


def test_a_step_with_endless_inputs_stays_short(step):
    one = step("r", action="a" * 10**6, input={f"k{n}": "v" for n in range(1000)})
    (row,) = step_rows(Trace(run="r", steps=(one,)))
    assert len(row.action) < 120
    assert len(row.input) == 8


def test_a_run_nobody_judged_keeps_its_steps(step):
    trace = Trace(run="lost", steps=(step("lost"),))
    view = ExperimentView(title="t", created="now", cards=(), traces=(trace,))
    (row,) = unjudged_rows(view)
    assert (row.run, len(row.steps)) == ("lost", 1)
