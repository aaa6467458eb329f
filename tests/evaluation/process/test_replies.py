"""Replies that were no action."""


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
