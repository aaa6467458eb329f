import pytest

from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.trace import Ending
from mlagentbench.report.data import TaskFacts
from mlagentbench.report.terminal import summary_lines, verdict


@pytest.fixture
def lines_of(card):
    facts = TaskFacts(
        name="house-price@1/mini",
        title="Houses",
        metric="MAE",
        direction="lower",
        unit="USD",
        starter=card().starter,
    )
    return lambda **changes: summary_lines(card(**changes), facts)


def test_a_finished_run_is_summed_up_in_six_lines(lines_of):
    assert lines_of() == [
        "house-price:tuner:none:0",
        "  starter      21,043 USD (MAE, lower is better)",
        "  score        17,901 USD",
        "  improvement  +14.9 %",
        "  success      yes (significant: outside the starter's 95 % prediction"
        " interval)",
        "  ending       submitted (3 steps, 1 min 15 s)",
    ]


def test_a_failed_submission_says_why(lines_of):
    lines = lines_of(
        score=None,
        improvement=None,
        success=False,
        submission_error="12 ids are missing\nsecond line",
    )
    assert lines[2] == (
        "  score        none: 12 ids are missing ... (11 more characters)"
    )
    assert lines[3:5] == ["  improvement  none", "  success      no"]


def test_a_broken_run_is_not_counted_and_says_why(lines_of):
    lines = lines_of(ending=Ending.BROKEN, reason="disk full", score=None, steps=1)
    assert lines[2] == "  score        none"
    assert lines[4] == "  success      not counted"
    assert lines[5] == "  ending       broken: disk full (1 step, 1 min 15 s)"


def test_an_unmeasured_starter_says_how_to_measure_it(lines_of):
    expected = "  starter      not measured: run `mlab measure house-price`"
    assert lines_of(starter=None)[1] == expected


def test_an_unsafe_run_says_so(lines_of):
    unsafe = SandboxUsed(provider="local", limits="none", unsafe=True)
    assert lines_of(sandbox=unsafe)[-1].startswith("  unsafe")


def test_luck_is_named(card):
    assert verdict(card(significant=False)) == (
        "yes (not significant: within the starter's 95 % prediction interval)"
    )


def test_terminal_escapes_from_agents_do_nothing(lines_of):
    lines = lines_of(ending=Ending.CRASHED, reason="\x1b]0;owned\x07\x1b[2J")
    assert not any("\x1b" in line or "\x07" in line for line in lines)
