"""Code that was written and never run."""


def test_a_last_edit_before_the_end_was_never_executed(run):
    run.executes().writes("a").answers()
    (finding,) = run.found("edits_never_executed")
    assert finding.steps == (2,)
    assert "train.py" in finding.why


def test_an_edit_that_was_executed_is_none(run):
    assert run.writes("a").executes().answers().at("edits_never_executed") == []


def test_only_the_last_of_several_edits_counts(run):
    run.writes("a").writes("b").executes().answers()
    assert run.at("edits_never_executed") == []


def test_running_the_old_script_does_not_run_a_new_one(run):
    run.writes("a", "train_v2.py").executes("train.py")
    assert run.at("edits_never_executed") == [1]


def test_a_new_script_that_is_run_by_name_is_executed(run):
    run.writes("a", "new.py").commands("python new.py")
    assert run.at("edits_never_executed") == []


def test_a_module_that_an_executed_script_mentions_is_executed(run):
    run.writes("x = 1", "helper.py").writes("import helper", "main.py").executes(
        "main.py"
    )
    assert run.at("edits_never_executed") == []


def test_a_file_of_the_starter_may_be_used_by_any_script(run):
    run.reads("model.py").writes("a", "model.py").executes("train.py")
    assert run.at("edits_never_executed") == []


def test_the_submitted_code_is_the_starters(run, code_task):
    run.writes("a", "layer.py").executes("train.py")
    assert run.at("edits_never_executed", task=code_task) == []


def test_notes_and_data_are_not_to_be_run(run):
    assert run.writes("a", "notes.md").answers().at("edits_never_executed") == []


def test_an_edit_that_was_undone_is_forgiven(run):
    run.executes().writes("a").does("Undo Edit Script", {"script_name": "train.py"})
    assert run.at("edits_never_executed") == []


def test_a_copy_is_no_work_that_is_lost(run):
    run.does("Copy File", {"source": "train.py", "destination": "old.py"})
    assert run.at("edits_never_executed") == []


def test_writing_what_was_read_changes_nothing(run):
    run.reads(seen="code").writes("code").answers()
    assert run.at("edits_never_executed") == []


def test_a_command_that_edits_and_runs_is_both(run):
    run.commands("sed -i 's/1/2/' train.py && python train.py")
    assert run.at("edits_never_executed") == []
