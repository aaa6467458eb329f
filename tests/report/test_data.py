import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import toy_task

from mlagentbench.core.scorecard import Starter
from mlagentbench.core.task import Baseline, DataKind, Measured
from mlagentbench.core.trace import Trace
from mlagentbench.report.data import ExperimentView, code_changes, task_facts


def a_view(*cards, **more) -> ExperimentView:
    return ExperimentView(title="t", created="now", cards=cards, **more)


def test_a_measured_task_brings_its_baselines():
    facts = task_facts(toy_task(starter=200.0, reference=150.0, version=2))
    assert facts.name == "toy@2/mini"
    assert facts.starter == Starter(mean=200.0, sd=1.0, n=8)
    assert facts.success_threshold == pytest.approx(180.0)
    assert facts.reference == 150.0
    assert facts.data is DataKind.REAL


def test_a_measured_task_brings_validation_scores_of_its_baselines():
    first, last = (
        Baseline(mean=mean, sd=1.0, n=2, date="", validation=(mean + 1, mean + 3))
        for mean in (200.0, 150.0)
    )
    tuned = first.model_copy(update={"mean": 180.0, "validation": ()})
    measured = Measured(starter=first, reference=last, tuned=tuned, digest="x")
    facts = task_facts(toy_task(measured=measured))
    assert facts.validation == {"starter": 202.0, "reference": 152.0}
    assert list(facts.baselines) == [
        *("starter", "tuning baseline", "success threshold", "reference")
    ]
    assert facts.baselines["tuning baseline"] == 180.0


def test_a_card_keeps_the_baselines_it_was_graded_with(card):
    task = task_facts(toy_task()).model_copy(
        update={"name": "house-price@1/mini", "validation": {"starter": 101.0}}
    )
    own = card(reference=Starter(mean=15980.0, sd=1.0, n=8))
    facts = a_view(own, tasks=(task,)).facts(own)
    assert (facts.starter, facts.reference) == (own.starter, 15980.0)
    assert facts.validation == {}
    same = card(starter=task.starter, tuned=Starter(mean=80.0, sd=1.0, n=4))
    facts = a_view(same, tasks=(task,)).facts(same)
    assert (facts.tuned, facts.reference) == (80.0, 50.0)
    assert facts.validation == {"starter": 101.0}


def test_unmeasured_task_has_no_success_threshold():
    facts = task_facts(toy_task(measured=None))
    assert facts.starter is None
    assert facts.success_threshold is None


def test_a_card_whose_task_is_gone_is_still_explained(card):
    facts = a_view(card()).facts(card())
    assert facts.name == "house-price@1/mini"
    assert facts.starter == card().starter
    assert facts.data is None


def test_the_steps_of_a_repeated_run_belong_to_its_last_attempt(card):
    first, second = card(attempt=1), card(attempt=2)
    trace = Trace(run=first.run)
    view = a_view(first, second, traces=(trace,))
    assert view.traces_by_attempt() == {(second.run, second.attempt): trace}


def test_a_trace_without_a_card_is_not_lost(card):
    graded, lost = Trace(run=card().run), Trace(run="other:tuner:none:0")
    assert a_view(card(), traces=(graded, lost)).ungraded == (lost,)


LINES = st.lists(st.sampled_from("abcd")).map("\n".join)


def test_every_line_of_a_diff_carries_its_sign():
    (change,) = code_changes({"t.py": "a\nb\nc"}, {"t.py": "a\nx\ny\nc"})
    assert change.lines == ("@@ -1,3 +1,4 @@", " a", "-b", "+x", "+y", " c")
    assert (change.kind, change.added, change.removed) == ("changed", 2, 1)


def test_new_and_removed_files_are_told_apart():
    found = code_changes({"old.py": "a"}, {"new.py": "b"})
    kinds = {one.name: one.kind for one in found}
    assert kinds == {"old.py": "removed", "new.py": "new"}


def test_what_is_not_there_is_not_called_removed_where_only_a_part_is_known():
    assert code_changes({"old.py": "a"}, {}, whole=False) == ()


@given(LINES, LINES)
def test_a_diff_counts_the_lines_it_shows(before, after):
    found = code_changes({"t": before}, {"t": after})
    for change in found:
        assert change.added == sum(line.startswith("+") for line in change.lines)
        assert len(after.split("\n")) - len(before.split("\n")) == (
            change.added - change.removed
        ) or not (before and after)
    assert (before == after) <= (found == ())


def test_a_line_without_end_and_a_file_without_end_are_cut():
    (wide,) = code_changes({"t": "a"}, {"t": "x" * 10**6})
    assert max(map(len, wide.lines)) < 600
    (long,) = code_changes({}, {"t": "\n".join("x" * 400 for _ in range(1000))})
    assert sum(map(len, long.lines)) < 70_000
    assert long.lines[-1].endswith("more lines")
    assert long.added == 1000


def test_thousands_of_other_lines_are_not_compared_one_by_one():
    before = "\n".join(f"a{number}" for number in range(3000))
    (change,) = code_changes({"t": before}, {"t": before.replace("a", "b")})
    assert "3000 lines changed" in change.lines[0]
