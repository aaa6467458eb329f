"""How a run of the original ended, from the files it left."""

import re

from mlagentbench.core.ending import Ending
from mlagentbench.core.record import Record
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.importing.deeds import FINAL_ANSWER, Deed
from mlagentbench.run.importing.finding import joined
from mlagentbench.run.importing.history import AgentLog
from mlagentbench.run.importing.reading import LogTree
from mlagentbench.run.importing.texts import as_number, as_text

_ERROR_BYTES = 2**20
_REASON_CHARACTERS = 300
_FRAME = re.compile(r'^ {1,8}File "([^"\n]{1,500})"', re.MULTILINE)
_OWN_CODE = "MLAgentBench/"
_PROVIDERS = ("Connection aborted", "exceeded your current quota", "RateLimitError")
_STEPS, _SECONDS = 50, 5 * 60 * 60
"""The original's limits, where nothing else was asked for."""


class Finish(Record):
    """How it ended, and why where that is known."""

    ending: Ending
    reason: str | None = None


def total_seconds(tree: LogTree, run: str) -> float | None:
    """Return how long a run took; None where the original did not get to say it."""
    path = joined(run, "env_log/overall_time.txt")
    raw = tree.read(path, limit=1_000)
    if raw is None:
        return None
    try:
        seconds = as_number(float(raw))
    except ValueError:
        seconds = None
    if seconds is None or seconds < 0:
        tree.warn(path, "not a number of seconds")
        return None
    return seconds


def finish_of(
    tree: LogTree, run: str, deeds: tuple[Deed, ...], log: AgentLog
) -> Finish:
    """Say how a run ended: by its answer, by an error, cut off, or by a limit."""
    if any(deed.action == FINAL_ANSWER for deed in deeds):
        return Finish(ending=Ending.SUBMITTED)
    if tree.exists(joined(run, "env_log/error.txt")):
        raw = tree.read(joined(run, "env_log/error.txt"), _ERROR_BYTES) or b""
        return _by_error(as_text(raw.decode(errors="replace")))
    if not tree.exists(joined(run, "env_log/overall_time.txt")):
        return Finish(
            ending=Ending.INTERRUPTED, reason="it was cut off: no overall_time.txt"
        )
    return _by_limit(deeds, log, total_seconds(tree, run) or 0.0)


def _by_error(text: str) -> Finish:
    lines = [line for line in text.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "error.txt cannot be read"
    reason = shortened(last, _REASON_CHARACTERS)
    if "TimeoutException" in last:
        return Finish(ending=Ending.OUT_OF_TIME, reason=reason)
    return Finish(ending=_blamed(text, last), reason=reason)


def _blamed(text: str, last: str) -> Ending:
    """Find whose fault an error was: the innermost code of theirs tells."""
    frames = [file for file in _FRAME.findall(text) if _OWN_CODE in file]
    where = frames[-1].rpartition(_OWN_CODE)[2] if frames else ""
    if where == "LLM.py" or any(said in last for said in _PROVIDERS):
        return Ending.PROVIDER_ERROR
    return Ending.CRASHED if where.startswith("agents/") else Ending.BROKEN


def _by_limit(deeds: tuple[Deed, ...], log: AgentLog, seconds: float) -> Finish:
    turns = len(log.by_step)
    if len(deeds) >= _asked(log, "max_steps", _STEPS):
        return Finish(ending=Ending.OUT_OF_STEPS)
    if turns >= _asked(log, "agent_max_steps", _STEPS):
        return Finish(ending=Ending.OUT_OF_STEPS, reason="the agent's own limit")
    if seconds >= _asked(log, "max_time", _SECONDS):
        return Finish(ending=Ending.OUT_OF_TIME)
    return Finish(ending=Ending.STOPPED, reason="it ended without a final answer")


def _asked(log: AgentLog, name: str, otherwise: int) -> int:
    given = log.settings.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else otherwise
