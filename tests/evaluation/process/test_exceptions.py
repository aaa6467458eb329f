"""The same exception after an attempt to mend it."""


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
