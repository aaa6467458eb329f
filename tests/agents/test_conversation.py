"""The time for another trial, and tracebacks in few lines."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.context import Remaining
from mlagentbench.agents.conversation import Pace, short_traceback

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


@given(st.lists(st.floats(0.1, 100), min_size=1), st.floats(200, 3000))
def test_a_trial_starts_only_if_one_as_long_as_the_longest_fits(trials, seconds):
    left = [seconds]
    clock = SimpleNamespace(remaining=lambda: Remaining(steps=9, seconds=left[0]))
    pace = Pace(clock)
    longest = 0.0
    for trial in trials:
        if not pace.another_fits():
            assert left[0] <= 1.2 * longest + 1e-6
            return
        assert left[0] > longest
        left[0] = max(0.0, left[0] - trial)
        longest = max(longest, trial)


def test_a_traceback_keeps_the_exception_and_the_line_of_the_script():
    assert short_traceback(TRACEBACK).splitlines() == [
        '  File "/workspace/train.py", line 9, in main',
        "    model.fit(table)",
        "ValueError: could not convert string to float: 'RL'",
    ]


def test_without_a_traceback_the_last_lines_are_kept():
    assert short_traceback("a\nb\nc\nd\ne") == "b\nc\nd\ne"
    assert short_traceback("") == ""


@given(st.text())
def test_a_short_traceback_has_at_most_600_characters(observation):
    assert len(short_traceback(observation)) <= 600
