"""Checks of conduct."""


def test_reading_the_same_file_twice_is_a_repeat(run):
    run.reads().reads()
    (finding,) = run.found("repeated_actions")
    assert finding.steps == (2, 1)
    assert "train.py" in finding.quote


def test_reading_again_after_an_edit_is_none(run):
    assert run.reads().writes().reads().at("repeated_actions") == []


def test_executing_again_without_an_edit_is_a_repeat_whatever_was_noted(run):
    run.executes().does("Append Summary to Research Log", {"content": "x"}).executes()
    assert run.at("repeated_actions") == [3]


def test_looking_something_up_again_is_none_when_the_log_has_grown(run):
    plan = {"current_plan": "p"}
    run.does("Retrieval from Research Log", plan)
    run.does("Append Summary to Research Log", {"content": "x"})
    run.does("Retrieval from Research Log", plan)
    assert run.at("repeated_actions") == []


def test_a_listing_after_an_execution_that_left_files_is_none(run):
    listing = {"dir_path": "."}
    run.does("List Files", listing, snapshot="a").executes(snapshot="b")
    run.does("List Files", listing, snapshot="b")
    assert run.at("repeated_actions") == []


def test_a_listing_after_an_execution_that_left_nothing_is_a_repeat(run):
    listing = {"dir_path": "."}
    run.does("List Files", listing, snapshot="a").executes(snapshot="a")
    run.does("List Files", listing, snapshot="a")
    assert run.at("repeated_actions") == [3]


def test_writing_what_stands_there_already_is_a_repeat(run):
    assert run.writes("a").executes().writes("a").at("repeated_actions") == [3]


def test_appending_the_same_twice_is_none(run):
    added = {"file_name": "a.txt", "content": "x"}
    run.does("Append File", added).does("Append File", added)
    assert run.at("repeated_actions") == []


def test_an_edit_that_failed_the_same_way_is_a_repeat(run):
    wish = {"script_name": "a.py", "edit_instruction": "mend", "save_name": "a.py"}
    for _ in range(2):
        run.does("Edit Script (AI)", wish, "no editor", ok=False)
    assert run.at("repeated_actions") == [2]


def test_restoring_twice_is_none(run):
    run.does("Restore Workspace", {"step_number": "1"})
    run.writes().does("Restore Workspace", {"step_number": "1"})
    assert run.at("repeated_actions") == []


def test_a_restoring_that_failed_changes_nothing(run):
    run.reads().does("Restore Workspace", {"step_number": "9"}, ok=False).reads()
    assert run.at("repeated_actions") == [3]


def test_a_loop_is_seen_when_its_third_round_is_done_though_files_change(run):
    wish = {"script_name": "a.py", "edit_instruction": "better", "save_name": "a.py"}
    for number in range(3):
        run.does("Edit Script (AI)", wish, f"diff {number}")
        run.does("Check Submission")
    assert run.at("repeated_actions") == [6]


def test_undoing_again_and_again_is_no_loop(run):
    for _ in range(4):
        run.does("Undo Edit Script", {"script_name": "a.py"})
    assert run.at("repeated_actions") == []


def test_bad_replies_are_not_counted_twice(run):
    for _ in range(4):
        run.does("Invalid Reply", {"reply": "x"}, "no", ok=False, error="bad_reply")
    assert run.at("repeated_actions") == []


def test_the_same_exception_after_an_edit_is_found_with_both_steps(run):
    run.fails().writes().fails()
    (finding,) = run.found("same_exception")
    assert finding.steps == (3, 1)
    assert finding.quote == "ValueError: bad"


def test_numbers_in_a_message_do_not_make_it_another(run):
    run.fails("ValueError: row 12 at 0x7f3a").writes().fails(
        "ValueError: row 90 at 0x1"
    )
    assert run.at("same_exception") == [3]


def test_without_an_edit_there_was_no_attempt(run):
    assert run.fails().fails().at("same_exception") == []


def test_another_exception_is_progress(run):
    assert run.fails().writes().fails("KeyError: 'a'").at("same_exception") == []


def test_one_that_was_gone_in_between_is_another_matter(run):
    run.fails().writes("a").executes().writes("b").fails()
    assert run.at("same_exception") == []


def test_it_is_counted_each_time(run):
    run.fails().writes("a").fails().writes("b").fails()
    assert run.at("same_exception") == [3, 5]


def test_a_failure_that_raised_nothing_is_told_by_its_first_line(run):
    told = "The script was stopped after 60 s, its time limit.\nOutput:\n1"
    run.executes(seen=told, ok=False).writes().executes(seen=told, ok=False)
    assert [f.quote for f in run.found("same_exception")] == [told.partition("\n")[0]]


def test_a_command_that_hides_its_exit_code_still_shows_a_traceback(run):
    shown = (
        "Traceback (most recent call last):\n  x\nNameError: name 'y' is not defined"
    )
    run.commands("python train.py; true", shown).writes()
    run.commands("python train.py; true", shown)
    assert run.at("same_exception") == [3]


def test_a_traceback_that_is_only_spoken_of_is_no_failure(run):
    shown = "Traceback (most recent call last) is what Python prints."
    run.executes(seen=shown).writes().executes(seen=shown)
    assert run.at("same_exception") == []


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


def test_a_reply_that_was_no_action_is_found_with_its_words(run):
    run.does(
        "Invalid Reply",
        {"reply": "I think."},
        "No Action.",
        ok=False,
        error="bad_reply",
    )
    (finding,) = run.found("response_format")
    assert finding.steps == (1,)
    assert finding.quote == "I think."
    assert "No Action." in finding.why


def test_an_action_that_does_not_exist_is_a_matter_of_format(run):
    run.does(
        "Improve", {"x": "1"}, "there is no action", ok=False, error="unknown_action"
    )
    assert run.at("response_format") == [1]


def test_wrong_arguments_are_a_matter_of_format(run):
    run.does("Read File", {"wrong": "a"}, "wrong arguments. Usage:", ok=False)
    assert run.at("response_format") == [1]


def test_a_file_that_is_not_there_is_no_matter_of_format(run):
    run.does("Read File", {"file_name": "a"}, "a does not exist", ok=False)
    assert run.at("response_format") == []


def test_a_wish_that_was_turned_down_is_a_repeat_and_no_matter_of_format(run):
    run.does("Invalid Reply", {"reply": "x"}, "again?", ok=False, error="pointless")
    assert run.at("response_format") == []
    assert run.at("repeated_actions") == [1]
