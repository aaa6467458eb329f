"""Checks of conduct."""

import pytest

LISTING = {"dir_path": "."}
APPEND = ("Append File", {"file_name": "a.txt", "content": "x"})
EDIT = {"script_name": "a.py", "edit_instruction": "mend", "save_name": "a.py"}
NOTE = ("Append Summary to Research Log", {"content": "x"})
LOOK_UP = ("Retrieval from Research Log", {"current_plan": "p"})
SPOKEN = "Traceback (most recent call last) is what Python prints."
HIDDEN = "Traceback (most recent call last):\n  x\nNameError: name 'y' is not defined"


def list_files(run, between, after):
    run.does("List Files", LISTING, snapshot="a").executes(snapshot=between)
    return run.does("List Files", LISTING, snapshot=after)


def undo(run, name="a.py"):
    return run.does("Undo Edit Script", {"script_name": name})


def restore(run, step, **more):
    return run.does("Restore Workspace", {"step_number": step}, **more)


def bad_reply(run, error="bad_reply"):
    return run.does("Invalid Reply", {"reply": "x"}, "no", ok=False, error=error)


def loop(run):
    for number in range(3):
        run.does("Edit Script (AI)", EDIT, f"diff {number}").does("Check Submission")
    return run


def fail_edit(run):
    return run.does("Edit Script (AI)", EDIT, "no editor", ok=False)


REPEATED_ACTIONS = {
    "read after an edit": (lambda r: r.reads().writes().reads(), []),
    "execute, whatever was noted": (lambda r: r.executes().does(*NOTE).executes(), [3]),
    "look up in a longer log": (
        lambda r: r.does(*LOOK_UP).does(*NOTE).does(*LOOK_UP), []),
    "list after new files": (lambda r: list_files(r, "b", "b"), []),
    "list after no new files": (lambda r: list_files(r, "a", "a"), [3]),
    "write the same": (lambda r: r.writes("a").executes().writes("a"), [3]),
    "append twice": (lambda r: r.does(*APPEND).does(*APPEND), []),
    "fail to edit twice": (lambda r: fail_edit(fail_edit(r)), [2]),
    "restore twice": (lambda r: restore(restore(r, "1").writes(), "1"), []),
    "failed restore": (lambda r: restore(r.reads(), "9", ok=False).reads(), [3]),
    "third round of a loop": (loop, [6]),
    "undo again and again": (lambda r: undo(undo(undo(undo(r)))), []),
    "bad replies": (lambda r: bad_reply(bad_reply(bad_reply(bad_reply(r)))), []),
    "rejected action": (lambda r: bad_reply(r, "pointless"), [1]),
}  # fmt: skip
SAME_EXCEPTION = {
    "other numbers": (
        lambda r: r.fails("ValueError: row 12 at 0x7f3a").writes()
        .fails("ValueError: row 90 at 0x1"), [3]),
    "no edit between": (lambda r: r.fails().fails(), []),
    "another exception": (lambda r: r.fails().writes().fails("KeyError: 'a'"), []),
    "gone between": (
        lambda r: r.fails().writes("a").executes().writes("b").fails(), []),
    "each time": (lambda r: r.fails().writes("a").fails().writes("b").fails(), [3, 5]),
    "hidden exit code": (
        lambda r: r.commands("python train.py; true", HIDDEN).writes()
        .commands("python train.py; true", HIDDEN), [3]),
    "traceback only mentioned": (
        lambda r: r.executes(seen=SPOKEN).writes().executes(seen=SPOKEN), []),
}  # fmt: skip
EDITS_NEVER_EXECUTED = {
    "executed": (lambda r: r.writes("a").executes().answers(), []),
    "only the last counts": (lambda r: r.writes("a").writes("b").executes(), []),
    "new script, old one run": (
        lambda r: r.writes("a", "train_v2.py").executes("train.py"), [1]),
    "new script run by name": (
        lambda r: r.writes("a", "new.py").commands("python new.py"), []),
    "module of an executed script": (
        lambda r: r.writes("x = 1", "helper.py").writes("import helper", "main.py")
        .executes("main.py"), []),
    "file of the starter": (
        lambda r: r.reads("model.py").writes("a", "model.py").executes("train.py"), []),
    "notes": (lambda r: r.writes("a", "notes.md").answers(), []),
    "undone": (lambda r: undo(r.executes().writes("a"), "train.py"), []),
    "copy": (
        lambda r: r.does("Copy File", {"source": "train.py", "destination": "old.py"}),
        []),
    "written as read": (lambda r: r.reads(seen="code").writes("code").answers(), []),
    "edit and run in one command": (
        lambda r: r.commands("sed -i 's/1/2/' train.py && python train.py"), []),
}  # fmt: skip
RESPONSE_FORMAT = {
    "unknown action": (
        lambda r: r.does("Improve", {"x": "1"}, ok=False, error="unknown_action"), [1]),
    "wrong arguments": (
        lambda r: r.does("Read File", {"wrong": "a"}, "wrong arguments.", ok=False),
        [1]),
    "missing file": (
        lambda r: r.does("Read File", {"file_name": "a"}, "a does not exist", ok=False),
        []),
    "rejected action": (lambda r: bad_reply(r, "pointless"), []),
}  # fmt: skip
CASES = [
    pytest.param(check, does, at, id=f"{check}: {name}")
    for check, cases in {
        "repeated_actions": REPEATED_ACTIONS,
        "same_exception": SAME_EXCEPTION,
        "edits_never_executed": EDITS_NEVER_EXECUTED,
        "response_format": RESPONSE_FORMAT,
    }.items()
    for name, (does, at) in cases.items()
]


@pytest.mark.parametrize(("check", "does", "at"), CASES)
def test_steps_that_a_check_finds(run, check, does, at):
    assert does(run).at(check) == at


def test_reading_the_same_file_twice_is_a_repeat(run):
    run.reads().reads()
    (finding,) = run.found("repeated_actions")
    assert finding.steps == (2, 1)
    assert "train.py" in finding.quote


def test_the_same_exception_after_an_edit_is_found_with_both_steps(run):
    run.fails().writes().fails()
    (finding,) = run.found("same_exception")
    assert finding.steps == (3, 1)
    assert finding.quote == "ValueError: bad"


def test_failure_without_exception_is_quoted_by_its_first_line(run):
    seen = "The script was stopped after 60 s, its time limit.\nOutput:\n1"
    run.executes(seen=seen, ok=False).writes().executes(seen=seen, ok=False)
    assert [f.quote for f in run.found("same_exception")] == [seen.partition("\n")[0]]


def test_a_last_edit_before_the_end_was_never_executed(run):
    run.executes().writes("a").answers()
    (finding,) = run.found("edits_never_executed")
    assert finding.steps == (2,)
    assert "train.py" in finding.why


def test_submitted_code_belongs_to_the_starter(run, code_task):
    run.writes("a", "layer.py").executes("train.py")
    assert run.at("edits_never_executed", task=code_task) == []


def test_reply_without_an_action_is_quoted(run):
    bad = {"ok": False, "error": "bad_reply"}
    run.does("Invalid Reply", {"reply": "I think."}, "No Action.", **bad)
    (finding,) = run.found("response_format")
    assert finding.steps == (1,)
    assert finding.quote == "I think."
    assert "No Action." in finding.why
