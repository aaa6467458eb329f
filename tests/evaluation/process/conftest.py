"""Short descriptions of runs for the process checks."""

import pytest
from tests.support.records import end, step, toy_task

from mlagentbench.core.task import Budget, Grading, Validation
from mlagentbench.core.trace import Ending, Measurement, Spent, Trace
from mlagentbench.evaluation.process.examine import CHECKS
from mlagentbench.evaluation.process.run_view import RunView


def make_task(**changes):
    given = {
        "budget": Budget(steps=50, minutes=60), "validation": Validation(),
    } | changes  # fmt: skip
    return toy_task(reference=100.0, **given)


def make_step(number, action, given=None, seen="", **more):
    """Return a step; `score=`, `said=`, `spent=` and any field of its own."""
    score, said = more.pop("score", None), more.pop("said", {})
    measured = None if score is None else Measurement(metric="mae", value=score)
    return step(
        number, seen, run="toy", action=action, input=given or {}, fields=said,
        validation=measured, **more,
    )  # fmt: skip


class RunBuilder:
    """A run that a test builds; each method appends a step."""

    def __init__(self):
        self.steps = []

    def does(self, action, given=None, seen="", **more):
        number = len(self.steps) + 1
        self.steps.append(make_step(number, action, given, seen, **more))
        return self

    def says(self, text, field="Thought", **more):
        name = f"notes/{len(self.steps)}.txt"
        return self.does("Read File", {"file_name": name}, said={field: text}, **more)

    def reads(self, name="train.py", seen="code", **more):
        return self.does("Read File", {"file_name": name}, seen, **more)

    def writes(self, content="new", name="train.py", **more):
        return self.does("Write File", {"file_name": name, "content": content}, **more)

    def executes(self, name="train.py", seen="", **more):
        return self.does("Execute Script", {"script_name": name}, seen, **more)

    def commands(self, command, seen="", **more):
        return self.does("Run Command", {"command": command}, seen, **more)

    def fails(self, line="ValueError: bad", name="train.py"):
        seen = (
            f"The script failed.\nErrors:\nTraceback (most recent call last):\n{line}"
        )
        return self.executes(name, seen, ok=False, error="action_failed")

    def answers(self, text="done", **more):
        return self.does("Final Answer", {"final_answer": text}, **more)

    def trace(self, ending=Ending.SUBMITTED):
        spent = self.steps[-1].spent if self.steps else Spent()
        ended = ending and end("toy", ending, spent=spent)
        return Trace(run="toy", steps=tuple(self.steps), end=ended)

    def view(self, task=None, ending=Ending.SUBMITTED, score=1.0, error=None, code=()):
        trace = self.trace(ending)
        return RunView(task or make_task(), trace, score, error, dict(code))

    def found(self, check, **more):
        """Return the findings of one check."""
        return list(CHECKS[check](self.view(**more)))

    def at(self, check, **more):
        """Return the steps at which one check finds something."""
        return [finding.steps[0] for finding in self.found(check, **more)]


@pytest.fixture
def run():
    return RunBuilder()


@pytest.fixture
def code_task():
    grading = Grading(
        visible_inputs="data/in", visible_truth="data/expected.npz", timed=True
    )
    return make_task(
        submission=("layer.py",), grading=grading, validation=None, truth="expected.npz"
    )


@pytest.fixture(scope="session")
def task_with():
    return make_task


@pytest.fixture(scope="session")
def make_run():
    return RunBuilder
