"""A small model is guided: it is shown the script, and what it edits is executed."""

from dataclasses import replace

import pytest
from fake_models.research import GUIDED
from thinking import plan_for, trace_of

from mlagentbench.agents.prompt_files import ideas_for
from mlagentbench.run.pipeline import run
from mlagentbench.run.replay import prompts_of


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, cache):
    return run(plan_for(GUIDED, tmp_path_factory.mktemp("guided")), cache=cache)


def test_every_edit_is_executed_and_none_is_made_twice(experiment):
    steps = trace_of(experiment).steps
    assert [(step.action, step.ok) for step in steps] == [
        ("Read File", True),
        ("Execute Script", True),
        ("Edit Script (AI)", True),
        ("Execute Script", False),
        ("Invalid Reply", False),
        ("Edit Script (AI)", True),
        ("Execute Script", True),
        ("Final Answer", True),
    ]
    assert (steps[4].error, "tried before" in steps[4].observation) == (
        "pointless",
        True,
    )
    (card,) = experiment.scorecards
    found = {name: check.value for name, check in card.process.items()}
    assert (found["repeated_actions"], found["response_format"]) == (1, 0)


def test_it_sees_the_script_at_once_and_only_the_cause_of_a_failure(experiment):
    (run_id,) = experiment.runs()
    (first,) = prompts_of(experiment, run_id, 3)[:1]
    source = trace_of(experiment).steps[0].observation
    assert source in first.messages[1].text
    (again,) = prompts_of(experiment, run_id, 5)[:1]
    failure = again.messages[-2].text
    assert "ModuleNotFoundError: No module named 'not_there'" in failure
    assert "Traceback" not in failure
    assert "mend its cause" in again.messages[-1].text


def test_an_idea_is_told_for_each_trial_but_not_while_there_is_something_to_mend(
    tmp_path, cache
):
    with_ideas = replace(GUIDED, settings={**GUIDED.settings, "ideas": "generic"})
    found = run(plan_for(with_ideas, tmp_path), cache=cache)
    (run_id,) = found.runs()
    told = {
        step: prompts_of(found, run_id, step)[0].messages[-1].text for step in (3, 5, 8)
    }
    ideas = ideas_for("tabular")
    assert ideas[0] in told[3]
    assert not any(idea in told[5] for idea in ideas)
    assert ideas[1] in told[8]


def test_it_submits_once_its_patience_is_at_an_end(tmp_path, cache):
    hasty = replace(GUIDED, settings={**GUIDED.settings, "patience": "1"})
    steps = trace_of(run(plan_for(hasty, tmp_path), cache=cache)).steps
    assert [step.action for step in steps[3:]] == [
        "Execute Script",
        "Restore Workspace",
        "Final Answer",
    ]
    answer = steps[-1].input["final_answer"]
    assert answer.startswith("1 trials in a row were no better")


def test_what_was_worse_is_undone_and_forgotten_but_for_its_line(tmp_path, cache):
    worse = replace(GUIDED, model="fake_models.research:worse")
    found = run(plan_for(worse, tmp_path), cache=cache)
    steps = trace_of(found).steps
    assert [step.action for step in steps[2:]] == [
        "Edit Script (AI)",
        "Execute Script",
        "Restore Workspace",
        "Final Answer",
    ]
    (run_id,) = found.runs()
    (asked,) = prompts_of(found, run_id, 6)[:1]
    assert [message.role for message in asked.messages] == ["system", "user", "user"]
    assert "(no better): Use a single tree." in asked.messages[-1].text
