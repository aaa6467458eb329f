import pytest

from mlagentbench.evaluation.process.run_view import edits_of

COMMANDS = {
    "echo 1 > a.py": ["a.py"],
    "cat >> ./b.py <<'X'\nx\nX": ["b.py"],
    "sed -i s/1/2/ train.py; ls": ["train.py"],
    "cp a.py b.py": ["b.py"],
    "mv 'x y' z": [],
    "ls | tee list.csv": ["list.csv"],
    "open('a.py', 'w').write('x')": ["a.py"],
    "Path('a.py').write_text('x')": ["a.py"],
    "open('a.py').read()": [],
    "cat a.py": [],
}


@pytest.mark.parametrize(("command", "files"), COMMANDS.items(), ids=list(COMMANDS))
def test_commands_that_write_are_seen(run, command, files):
    run.commands(command)
    assert [edit.file for edit in edits_of(tuple(run.steps))[0]] == files


def test_an_edit_that_failed_changed_nothing(run):
    run.writes("a", ok=False)
    assert edits_of(tuple(run.steps)) == ((),)


def test_an_input_that_is_no_text_is_no_file(run):
    run.does("Write File", {"file_name": 3, "content": ["x"]})
    assert [edit.file for edit in edits_of(tuple(run.steps))[0]] == [""]
