"""Count the modules that one run and one step of an agent enter.

`python tools/count_modules.py [--list]` runs the agent `starter` on a small task, then
the agent `research` (modern style) with scripted replies. A module is entered when one
of its functions is called, in any thread. Calls at import are not counted.
"""

import argparse
import dis
import functools
import importlib
import pkgutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from unittest.mock import patch

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "tests" / "end_to_end"))

from fake_models.research import CASES  # noqa: E402

import mlagentbench  # noqa: E402
from mlagentbench.agents.research.agent import research  # noqa: E402
from mlagentbench.core.cache import default_cache  # noqa: E402
from mlagentbench.core.trace import Step  # noqa: E402
from mlagentbench.experiment.plan import Plan  # noqa: E402
from mlagentbench.experiment.trace_file import AnyLine, TraceWriter  # noqa: E402
from mlagentbench.run.pipeline import run  # noqa: E402

TASK = PROJECT / "tests" / "data" / "recorded" / "task"
RUN_LIMIT = 100
STEP_LIMIT = 50


class Profile:
    """The modules entered since the beginning, and in each step of an agent."""

    def __init__(self) -> None:
        self.entered: set[str] = set()
        self.steps: list[set[str]] = []
        self._in_step: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call; a coroutine that goes on was called before."""
        code = frame.f_code
        if event != "call" or not code.co_flags & CO_OPTIMIZED:
            return
        name = frame.f_globals.get("__name__", "")
        if not _is_counted(name) or frame.f_lasti > _entry(code):
            return
        if code is research.__code__:
            self._in_step.clear()
        self.entered.add(name)
        self._in_step.add(name)

    def append(self, trace: TraceWriter, line: AnyLine) -> None:
        """Append a line to a trace; a step ends with its line."""
        _APPEND(trace, line)
        if isinstance(line, Step):
            self.steps.append(set(self._in_step))
            self._in_step.clear()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Watch this thread and those that it starts."""
        threading.setprofile(self)
        sys.setprofile(self)
        append = patch.object(TraceWriter, "append", lambda *given: self.append(*given))
        try:
            with append:
                yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


_APPEND = TraceWriter.append


def _is_counted(module: str) -> bool:
    parts = module.split(".")
    return parts[0] == "mlagentbench" and parts[1:3] != ["tasks", "suite"]


@functools.cache
def _entry(code: CodeType) -> int:
    """Return the offset at which the body of a function begins."""
    instructions = dis.get_instructions(code)
    return next(one.offset for one in instructions if one.opname == "RESUME")


def import_all() -> None:
    """Import every module, so that none is imported while calls are counted."""
    for module in pkgutil.walk_packages(mlagentbench.__path__, "mlagentbench."):
        if _is_counted(module.name) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def profiled(plan: Plan) -> Profile:
    """Carry out a plan and return what it entered."""
    profile = Profile()
    with tempfile.TemporaryDirectory(prefix="mlab-count-") as out, profile.installed():
        given = plan.model_copy(update={"out": Path(out)})
        experiment = run(given, cache=default_cache())
        (card,) = experiment.scorecards
    if card.score is None:
        raise RuntimeError(f"the run of {plan.agent} failed: {card.reason}")
    return profile


def main() -> int:
    """Print both numbers; exit 1 where one is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the modules too")
    with_list = parser.parse_args().list
    import_all()
    simplest = profiled(Plan(tasks=(str(TASK),), agent="starter"))
    case = CASES[0]
    thinking = profiled(
        Plan(
            tasks=(str(TASK),),
            agent=case.agent,
            settings=case.settings,
            model=f"scripted/{case.model}",
        )
    )
    counted = {
        f"the simplest run enters (at most {RUN_LIMIT})": simplest.entered,
        f"one step of research enters (at most {STEP_LIMIT})": max(
            thinking.steps, key=len
        ),
    }
    for what, modules in counted.items():
        print(f"{what}: {len(modules)}")
        if with_list:
            print("".join(f"    {name}\n" for name in sorted(modules)))
    if with_list:
        print("each step of research:", [len(step) for step in thinking.steps])
    numbers = [len(modules) for modules in counted.values()]
    return int(numbers[0] > RUN_LIMIT or numbers[1] > STEP_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
