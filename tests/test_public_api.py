"""The public interface: `import mlagentbench as ml`."""

import subprocess
import sys
from pathlib import Path

import pytest

import mlagentbench as ml
from mlagentbench.evaluation import Verdict

PROJECT = Path(__file__).parents[1]
RECORDED = PROJECT / "tests" / "data" / "recorded"
FUNCTIONS = {
    *("list_tasks", "load_task", "check_task", "run", "open_experiment", "resume"),
    *("rescore", "evaluate", "compare", "write_report", "run_study", "open_study"),
}
CONTRACTS = {
    *("Agent", "Context", "ActionRequest", "Grade", "Graded", "Prepare"),
    *("SubmissionError", "RunObserver", "Progress", "Task", "Budget", "Step", "Trace"),
    *("Ending", "Scorecard", "RunId", "Plan", "BenchError"),
}


def test_public_names_are_those_of_the_documented_interface():
    assert set(ml.__all__) == FUNCTIONS | CONTRACTS
    assert all(hasattr(ml, name) for name in ml.__all__)


def test_importing_the_package_and_reading_results_does_not_load_the_engine():
    code = (
        "import sys, mlagentbench as ml; ml.open_experiment(sys.argv[1]).scorecards;"
        " sys.exit('inspect_ai' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(RECORDED / "tuner")]
    assert subprocess.run(command, check=False).returncode == 0


def test_run_is_callable_after_its_folder_was_imported():
    import mlagentbench.run.pipeline

    with pytest.raises(ml.BenchError, match="not both"):
        ml.run(ml.Plan(tasks=("house-price",)), agent="tuner")
    assert callable(mlagentbench.run)


def test_scorecards_are_a_list_and_a_report_is_written(tmp_path):
    experiment = ml.open_experiment(RECORDED / "tuner")
    (found,) = experiment.scorecards
    assert found.success
    page = ml.write_report([experiment], tmp_path / "report.html")
    assert found.task in page.read_text()


def test_a_folder_without_an_experiment_is_refused(tmp_path):
    with pytest.raises(ml.BenchError, match="not an experiment"):
        ml.open_experiment(tmp_path)


def test_two_experiments_are_compared():
    a = ml.open_experiment(RECORDED / "tuner")
    b = ml.open_experiment(RECORDED / "starter")
    comparison = ml.compare(a, b)
    assert comparison.success is not None
    assert comparison.success.holm_p is not None


def test_a_trace_is_evaluated_without_any_file():
    experiment = ml.open_experiment(RECORDED / "tuner")
    (found,) = experiment.scorecards
    (run,) = experiment.runs()
    again = ml.evaluate(
        ml.load_task(str(RECORDED / "task")),
        experiment.trace(run),
        Verdict(score=found.score),
    )
    assert again.improvement == pytest.approx(found.improvement)
    assert again.ending is ml.Ending.SUBMITTED
