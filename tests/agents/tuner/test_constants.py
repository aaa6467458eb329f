"""Number constants of a script."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.tuner import find_constants, with_values

SCRIPT = '''"""Doc."""
import os
RATE = 0.1  # a comment stays
TREES: int = 30; DEPTH = 2
NAME = "text"
FLAG = True
é = 1
ÜBER = 5
lower = 3
COMPUTED = 2 * 3
NEGATIVE = -1
def f():
    INNER = 4
'''


def test_only_top_level_upper_case_literals_count():
    names = [constant.name for constant in find_constants(SCRIPT)]
    assert names == ["RATE", "TREES", "DEPTH", "FLAG", "ÜBER"]


def test_new_values_replace_the_old_ones_and_nothing_else():
    constants = find_constants(SCRIPT)
    values = {"RATE": 0.25, "TREES": 240, "DEPTH": 11, "FLAG": False, "ÜBER": 6}
    changed = with_values(SCRIPT, constants, values)
    assert {c.name: c.value for c in find_constants(changed)} == values
    assert "0.25  # a comment stays" in changed
    assert 'NAME = "text"' in changed


@given(st.text())
def test_text_that_is_no_script_has_no_constants_and_raises_nothing(text):
    for constant in find_constants(text):
        assert constant.name.isupper()


@given(st.floats(1e-8, 1e8), st.integers(1, 10**6))
def test_rewritten_numbers_read_back_exactly(number, count):
    source = "RATE = 1.0\nN = 2"
    changed = with_values(source, find_constants(source), {"RATE": number, "N": count})
    values = [node.value.value for node in ast.parse(changed).body]
    assert values == [number, count]
