"""`mlab run --preset paper` and `--suite`: the values that they stand for."""

import pytest

from mlagentbench.cli.commands.run import command
from mlagentbench.cli.options import chosen_names
from mlagentbench.cli.preset import preset_settings, preset_suite, print_preset
from mlagentbench.tasks.load import paper_task_ids, task_ids


@pytest.fixture
def preset(capsys):
    """Read words as `mlab run --preset paper` does; return options and what it says."""

    def read(*words):
        with command.make_context("run", ["--preset", "paper", *words]) as context:
            print_preset()
            return context.params, capsys.readouterr().err.strip()

    return read


def test_the_preset_is_the_papers_agent_budget_and_number_of_runs(preset):
    given, said = preset("--model", "openai/gpt-4o")
    chosen = (given["max_steps"], given["max_minutes"], given["runs"])
    assert (given["agent"], *chosen) == (("research",), 50, 300, 8)
    assert preset_settings("paper", ["research"], ()) == ("style=classic",)
    assert said == (
        "preset paper: --agent research --max-steps 50 --max-minutes 300 --runs 8"
        " -A style=classic --suite paper"
    )


def test_options_that_are_given_override_the_preset(preset, monkeypatch):
    monkeypatch.setenv("MLAB_MAX_MINUTES", "60")
    given, said = preset("imdb", "--agent", "act", "--runs", "2", "-A", "a=b")
    chosen = (given["max_steps"], given["max_minutes"], given["runs"])
    assert (given["agent"], *chosen) == (("act",), 50, 60, 2)
    assert said == "preset paper: --max-steps 50"


@pytest.mark.parametrize(
    ("agents", "settings", "used"),
    [
        (["research"], ("log=on",), ("log=on", "style=classic")),
        (["research"], ("style=modern",), ("style=modern",)),
        (["act"], ("a=b",), ("a=b",)),
    ],
)
def test_only_the_research_agent_without_a_style_becomes_classic(
    agents, settings, used
):
    assert preset_settings("paper", agents, settings) == used
    assert preset_settings(None, agents, settings) == settings


@pytest.mark.parametrize(
    ("preset", "suite", "is_named", "used"),
    [
        ("paper", None, False, "paper"),
        ("paper", None, True, None),
        ("paper", "all", False, "all"),
        (None, None, False, None),
    ],
)
def test_the_preset_names_the_papers_tasks_if_none_is_named(
    preset, suite, is_named, used
):
    assert preset_suite(preset, suite, is_named=is_named) == used


def test_a_suite_is_the_papers_thirteen_tasks_or_all():
    paper = chosen_names((), every=False, suite="paper")
    assert (list(paper), len(paper)) == (paper_task_ids(), 13)
    everything = tuple(task_ids())
    assert chosen_names((), every=False, suite="all") == everything
    assert chosen_names((), every=True) == everything
