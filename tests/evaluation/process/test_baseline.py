"""Was the starter ever run as it is?"""


def test_changing_the_script_before_running_it_is_found(run):
    run.reads().writes().executes(score=1.0)
    (finding,) = run.found("baseline_never_measured")
    assert finding.steps == (2,)


def test_running_it_first_is_sound(run):
    assert run.executes().writes().executes().at("baseline_never_measured") == []


def test_a_start_that_failed_measures_nothing(run):
    assert run.fails().writes().at("baseline_never_measured") == [2]


def test_any_measured_execution_counts(run):
    run.commands("bash all.sh", score=3.0).writes()
    assert run.at("baseline_never_measured") == []


def test_work_on_a_copy_leaves_the_original_to_be_measured(run):
    run.writes("a", "mine.py").executes("mine.py").executes("train.py").writes()
    assert run.at("baseline_never_measured") == []


def test_writing_the_script_as_it_was_read_is_no_change(run):
    run.reads(seen="code").writes("code").executes().writes("new")
    assert run.at("baseline_never_measured") == []


def test_the_code_to_be_submitted_counts_as_the_starter(run, code_task):
    run.writes("a", "layer.py").executes()
    assert run.at("baseline_never_measured", task=code_task) == [1]


def test_ending_without_ever_running_it_is_found_at_the_last_step(run):
    assert run.reads().answers().at("baseline_never_measured") == [2]


def test_a_run_without_steps_has_nothing_to_show(run):
    assert run.found("baseline_never_measured") == []
