"""What of a log folder in the original's layout becomes which record of ours."""

import json
from pathlib import Path

import pytest
from tests.run.importing.builder import (
    ANSWER,
    BEGUN,
    EDIT,
    PLAN,
    RUN_TRAIN,
    make_run,
    turn,
    write_state,
)

from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import NOT_JUDGED, Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.importing.importer import import_original
from mlagentbench.run.tracefile import read_trace

TIMED_OUT = """Traceback (most recent call last):
  File "/home/u/MLAgentBench/runner.py", line 26, in run
    final_message = agent.run(env)
  File "/home/u/MLAgentBench/environment.py", line 212, in signal_handler
MLAgentBench.environment.TimeoutException: Timed out!
"""
AGENT_RAISED = """Traceback (most recent call last):
  File "/home/u/MLAgentBench/runner.py", line 26, in run
    final_message = agent.run(env)
  File "/home/u/MLAgentBench/agents/agent_langchain.py", line 190, in run
    agent.run(problem)
  File "/usr/lib/python3/site-packages/langchain/agents/parser.py", line 9, in parse
ValueError: Could not parse LLM output
"""
MODEL_FAILED = """Traceback (most recent call last):
  File "/home/u/MLAgentBench/agents/agent_research.py", line 116, in run
    completion = complete_text(prompt, log_file, self.args.llm_name)
  File "/home/u/MLAgentBench/LLM.py", line 80, in complete_text
openai.error.APIError: bad gateway
"""
HARNESS_FAILED = """Traceback (most recent call last):
  File "/home/u/MLAgentBench/agents/agent_research.py", line 151, in run
    observation = env.execute(Action(action, action_input))
  File "/home/u/MLAgentBench/environment.py", line 300, in save
OSError: [Errno 28] No space left on device
"""


class Import:
    """Imports one folder and reads back what came of it."""

    def __init__(self, logs: Path, out: Path, *results: Path) -> None:
        self.said = import_original(logs, out, results)
        self.experiment = Experiment(out)
        self.cards, _ = self.experiment.scorecards()
        assert len(self.cards) == len(self.said.runs)

    @property
    def card(self) -> Scorecard:
        (card,) = self.cards
        return card

    @property
    def trace(self) -> Trace:
        (path,) = (self.experiment.folder / "trace").iterdir()
        return read_trace(path, self.card.run)


@pytest.fixture
def logs(tmp_path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def imported(logs, tmp_path):
    return lambda *results: Import(logs, tmp_path / "experiment", *results)


def test_a_run_is_named_by_what_its_agent_was_started_with(logs, imported):
    asked = {"task": "imdb", "llm_name": "gpt-4", "edit_script_llm_name": "gpt-4",
             "fast_llm_name": "gpt-3.5-turbo"}  # fmt: skip
    make_run(logs / "somewhere", [RUN_TRAIN, ANSWER], agent=asked)
    card = imported().card
    assert (card.task, card.version, card.edition) == ("imdb", 1, "original")
    assert card.agent == "original[agent=ResearchAgent]"
    assert card.model == "gpt-4[helper=gpt-3.5-turbo]"
    assert card.run == f"imdb:{card.agent}:{card.model}:1"


def test_a_run_without_an_agents_log_is_named_by_its_path(logs, imported):
    make_run(logs / "sanity_check" / "ogbn-arxiv" / "1690000000", [RUN_TRAIN, ANSWER])
    card = imported().card
    assert (card.task, card.agent) == ("ogbn-arxiv", "original")
    assert card.model == "sanity_check"


def test_runs_of_the_same_name_are_numbered_in_the_order_of_their_folders(
    logs, imported
):
    for name in ("1690000002", "1690000001"):
        make_run(logs / "gpt4" / "imdb" / name, [ANSWER])
    done = imported()
    assert [card.seed for card in done.cards] == [1, 2]
    assert [*done.said.runs.values()] == [
        "gpt4/imdb/1690000001",
        "gpt4/imdb/1690000002",
    ]


def test_the_originals_names_of_tasks_become_ours(logs, imported):
    for name in ("debug", "amp-parkinsons-disease-progression-prediction", "babylm"):
        make_run(logs / "m" / name / "1", [ANSWER])
    tasks = {card.task for card in imported().cards}
    assert tasks == {"cifar10", "parkinsons-disease", "BabyLM"}


def test_a_task_the_original_does_not_have_keeps_a_plain_name(logs, imported):
    make_run(logs / "1", [ANSWER], agent={"task": "my <b>task</b>\n"})
    card = imported().card
    assert card.task == "my-b-task-b"
    assert (card.metric, card.starter) == ("unknown", None)


def test_steps_keep_action_input_observation_and_what_the_agent_said(logs, imported):
    make_run(logs / "1", [RUN_TRAIN, EDIT, ANSWER], agent={})
    trace = imported().trace
    assert [step.action for step in trace.steps] == [
        "Execute Script",
        "Edit Script (AI)",
        "Final Answer",
    ]
    first = trace.steps[0]
    assert first.input == {"script_name": "train.py"}
    assert "validation accuracy: 0.61" in first.observation
    assert first.ok
    assert first.fields == {
        "Reflection": "the last step went well",
        "Research Plan and Status": PLAN,
        "Fact Check": "nothing to check",
        "Thought": "step 1",
    }
    assert [step.agent_step for step in trace.steps] == [1, 2, 3]


def test_times_come_from_the_timestamps_and_the_total(logs, imported):
    make_run(logs / "1", [RUN_TRAIN, EDIT, ANSWER])
    done = imported()
    first, second, third = done.trace.steps
    assert first.seconds.execute == 90
    assert second.seconds.model == 60
    assert first.started == "2023-11-14T22:12:50.000+00:00"
    assert (third.spent.steps, third.spent.seconds) == (3, 210)
    assert done.card.seconds.total == 210
    assert BEGUN == 1_700_000_000


def test_without_a_total_a_run_begins_with_its_first_step(logs, imported):
    make_run(logs / "1", [RUN_TRAIN, EDIT, ANSWER], total=None)
    steps = imported().trace.steps
    assert [step.spent.seconds for step in steps] == [0, 60, 120]


def test_a_long_observation_is_shortened_and_its_digest_kept(logs, imported):
    long = "Here is the output:\n" + "x" * 3_000_000
    make_run(logs / "1", [("Execute Script", {"script_name": "a.py"}, long), ANSWER])
    step = imported().trace.steps[0]
    assert len(step.observation) < 21_000
    assert "characters left out" in step.observation
    assert len(step.observation_blob) == 64


@pytest.mark.parametrize(
    ("action", "observation", "error"),
    [
        ("Read File", "EnvError: cannot read file x", "action_failed"),
        ("Edit Script (AI)", "EnvError: too long input for the tool", "action_failed"),
        ("Read File", "The action input for Read File needs to be", "bad_reply"),
        ("Read File", "EnvError: The action input for Read File", "bad_reply"),
        ("Fly", "Invalid action: Fly. Action did not execute.", "unknown_action"),
        ("Execute Script",
         "The script has been executed. Here is the output:\n"
         "Traceback (most recent call last):\nValueError: no", "action_failed"),
        ("Read File", "def f():\n# Traceback (most recent call last):", None),
    ],
)  # fmt: skip
def test_what_went_wrong_is_told_from_the_observation(
    logs, imported, action, observation, error
):
    make_run(logs / "1", [(action, {"a": "b"}, observation), ANSWER])
    step = imported().trace.steps[0]
    assert (step.ok, step.error) == (error is None, error)


def test_replies_whose_input_could_not_be_read_are_steps_that_do_not_count(
    logs, imported
):
    run = make_run(logs / "1", [RUN_TRAIN, ANSWER], agent={})
    bad = ("Read File", "{no json", "ActionInputParsingError: Expecting value")
    # As the original does: one more state, and none of it left in the next.
    write_state(run, 0, 1, [turn(1, RUN_TRAIN), turn(1, bad)], {})
    done = imported()
    assert [step.action for step in done.trace.steps] == [
        "Execute Script",
        "Invalid Reply",
        "Final Answer",
    ]
    unread = done.trace.steps[1]
    assert (unread.error, unread.spent.steps) == ("bad_reply", 1)
    assert "{no json" in unread.input["reply"]
    assert done.card.steps == 2


def test_arguments_that_are_no_object_go_to_the_only_parameter(logs, imported):
    make_run(logs / "1", [("Final Answer", "Done!", "end")])
    assert imported().trace.steps[0].input == {"final_answer": "Done!"}


def test_low_level_steps_are_taken_where_there_are_no_others(logs, imported):
    run = make_run(logs / "1", [RUN_TRAIN])
    path = run / "env_log" / "trace.json"
    trace = json.loads(path.read_text())
    trace["low_level_steps"], trace["steps"] = trace["steps"], []
    path.write_text(json.dumps(trace))
    done = imported()
    assert [step.action for step in done.trace.steps] == ["Execute Script"]
    assert any("low-level steps only" in said for said in done.said.warnings)


@pytest.mark.parametrize(
    ("steps", "files", "ending"),
    [
        ([RUN_TRAIN, ANSWER], {}, Ending.SUBMITTED),
        ([RUN_TRAIN, ANSWER, EDIT], {}, Ending.SUBMITTED),
        ([RUN_TRAIN] * 50, {}, Ending.OUT_OF_STEPS),
        ([RUN_TRAIN], {}, Ending.STOPPED),
        ([RUN_TRAIN], {"total": "18000.5"}, Ending.OUT_OF_TIME),
        ([RUN_TRAIN], {"total": None}, Ending.INTERRUPTED),
        ([RUN_TRAIN], {"error": TIMED_OUT}, Ending.OUT_OF_TIME),
        ([RUN_TRAIN], {"error": AGENT_RAISED}, Ending.CRASHED),
        ([RUN_TRAIN], {"error": MODEL_FAILED}, Ending.PROVIDER_ERROR),
        ([RUN_TRAIN], {"error": HARNESS_FAILED}, Ending.BROKEN),
        ([RUN_TRAIN], {"error": ""}, Ending.BROKEN),
        ([RUN_TRAIN] * 3, {"agent": {"max_steps": 3}}, Ending.OUT_OF_STEPS),
        ([RUN_TRAIN] * 3, {"agent": {"agent_max_steps": 3}}, Ending.OUT_OF_STEPS),
        ([RUN_TRAIN], {"agent": {"max_time": 60}}, Ending.OUT_OF_TIME),
    ],
)
def test_how_a_run_ended_is_told_from_its_files(logs, imported, steps, files, ending):
    make_run(logs / "1", steps, **files)
    done = imported()
    assert done.card.ending is ending
    assert done.trace.end.ending is ending


def test_an_errors_last_line_is_the_reason(logs, imported):
    make_run(logs / "1", [RUN_TRAIN], error=AGENT_RAISED)
    reason = imported().card.reason
    assert reason == f"ValueError: Could not parse LLM output; {NOT_JUDGED}"


def test_without_results_nothing_is_said_of_score_and_success(logs, imported):
    make_run(logs / "imdb" / "1", [RUN_TRAIN, ANSWER], agent={"task": "imdb"})
    card = imported().card
    assert (card.score, card.improvement, card.success) == (None, None, False)
    assert (card.reason, card.failure) == (NOT_JUDGED, None)
    assert card.submission_error is None
    assert card.sandbox.unsafe


def test_how_an_imported_run_was_worked_is_judged_by_our_checks(logs, imported):
    boast = ("Final Answer", {"final_answer": "The accuracy is 97.3 %."}, "end")
    failed = (
        "Execute Script",
        {"script_name": "train.py"},
        "The script has been executed. Here is the output:\n"
        "Traceback (most recent call last):\nValueError: no such column",
    )
    make_run(logs / "1", [failed, EDIT, failed, boast], agent={})
    process = imported().card.process
    assert process["unsupported_claims"].value == 1
    assert "97.3" in process["unsupported_claims"].evidence[0].quote
    assert process["same_exception"].value == 1


def test_nothing_is_said_of_a_submission_that_nobody_judged(logs, imported):
    make_run(logs / "1", [RUN_TRAIN, ANSWER])
    process = imported().card.process
    assert process["unsupported_claims"].value == 0
    assert "submission" not in process


def test_a_folder_without_logs_is_a_wrong_command(tmp_path):
    (tmp_path / "logs").mkdir()
    with pytest.raises(UsageError, match=r"no env_log/trace\.json"):
        import_original(tmp_path / "logs", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_experiment_is_never_written_over(logs, tmp_path):
    make_run(logs / "1", [ANSWER])
    import_original(logs, tmp_path / "out")
    with pytest.raises(UsageError, match="there already"):
        import_original(logs, tmp_path / "out")


def test_a_folder_that_is_a_run_itself_is_imported(tmp_path):
    make_run(tmp_path / "imdb", [RUN_TRAIN, ANSWER])
    done = Import(tmp_path / "imdb", tmp_path / "out")
    assert (done.card.task, done.card.steps) == ("imdb", 2)
