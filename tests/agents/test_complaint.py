"""What a failed execution says, in as few lines as possible."""

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.conversation import complaint

TRACEBACK = """The script failed with exit code 1.
Errors:
Traceback (most recent call last):
  File "/workspace/train.py", line 12, in <module>
    main()
  File "/workspace/train.py", line 9, in main
    model.fit(table)
  File "/opt/agent-env/lib/python3.11/site-packages/sklearn/base.py", line 1, in fit
    raise ValueError(text)
ValueError: could not convert string to float: 'RL'
"""


def test_the_exception_and_the_line_of_the_script_are_left():
    assert complaint(TRACEBACK).splitlines() == [
        '  File "/workspace/train.py", line 9, in main',
        "    model.fit(table)",
        "ValueError: could not convert string to float: 'RL'",
    ]


def test_without_a_traceback_the_last_lines_are_left():
    assert complaint("a\nb\nc\nd\ne") == "b\nc\nd\ne"
    assert complaint("") == ""


@given(st.text())
def test_it_is_never_long(told):
    assert len(complaint(told)) <= 600
