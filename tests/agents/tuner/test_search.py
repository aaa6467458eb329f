"""The search over constants."""

from mlagentbench.agents.tuner import Search, find_constants
from mlagentbench.core.task import Direction

CONSTANTS = find_constants("RATE = 0.3\nTREES = 16\nFLAG = True\nZERO = 0\n")


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


def test_nothing_to_search_is_said():
    assert Search([], Direction.LOWER, seed=1).empty


def test_every_other_proposal_changes_at_most_two_things_of_the_best():
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
