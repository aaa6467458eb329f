"""Actions that could not bring anything new."""


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
