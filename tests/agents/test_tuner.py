"""The tuner: the number constants of a script, and the search over them."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.agents.tuner import Search, find_constants, with_values
from mlagentbench.core.task import Direction

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

CONSTANTS = find_constants("RATE = 0.3\nTREES = 16\nFLAG = True\nZERO = 0\n")


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
def test_any_text_is_searched_for_constants_without_raising(text):
    for constant in find_constants(text):
        assert constant.name.isupper()


@given(st.floats(1e-8, 1e8), st.integers(1, 10**6))
def test_rewritten_numbers_read_back_exactly(number, count):
    source = "RATE = 1.0\nN = 2"
    changed = with_values(source, find_constants(source), {"RATE": number, "N": count})
    values = [node.value.value for node in ast.parse(changed).body]
    assert values == [number, count]


def test_the_first_proposal_is_the_starters_own_values():
    _, values = Search(CONSTANTS, Direction.LOWER, seed=1).ask()
    assert values == {"RATE": 0.3, "TREES": 16, "FLAG": True, "ZERO": 0}


def test_proposals_stay_within_reach_and_zero_is_left_alone():
    search = Search(CONSTANTS, Direction.LOWER, seed=1)
    for _ in range(40):
        trial, values = search.ask()
        assert 0.01 <= values["RATE"] <= 9.0
        assert 2 <= values["TREES"] <= 128
        assert values["ZERO"] == 0
        search.tell(trial, values["RATE"])


def test_the_same_seed_proposes_the_same_values():
    def proposals(seed):
        search = Search(CONSTANTS, Direction.HIGHER, seed)
        found = []
        for _ in range(10):
            trial, values = search.ask()
            search.tell(trial, values["RATE"])
            found.append(values)
        return found

    assert proposals(3) == proposals(3)
    assert proposals(3) != proposals(4)


def test_a_trial_without_a_score_does_not_stop_the_search():
    search = Search(CONSTANTS, Direction.LOWER, seed=1)
    for _ in range(12):
        trial, _ = search.ask()
        search.tell(trial, None)
    assert not search.empty


def test_a_search_without_constants_is_empty():
    assert Search([], Direction.LOWER, seed=1).empty


def test_every_other_proposal_changes_at_most_two_constants_of_the_best():
    source = "".join(f"C{number} = 1.0\n" for number in range(6))
    search = Search(find_constants(source), Direction.LOWER, seed=1)
    best, least = {}, float("inf")
    for number in range(1, 21):
        trial, values = search.ask()
        if number % 2 == 0:
            assert sum(values[name] != best[name] for name in best) <= 2
        score = sum(values.values())
        search.tell(trial, score)
        if score < least:
            best, least = values, score
