"""How a model is best asked to say what to do, told by its provider."""

from pathlib import Path

from mlagentbench.agents.context import Speech
from mlagentbench.run.tracefile import read_trace

_SPEECH: dict[str, Speech] = {
    # Small local models call no tools but keep to a schema.
    "local": "schema",
}


def speech_of(model: str) -> Speech:
    """Return what the model's provider is best at; an earlier run's for its replay."""
    provider, _, name = model.partition("/")
    if provider == "replay" and Path(name).is_file():
        return _speech_recorded(Path(name))
    return _SPEECH.get(provider, "tools")


def _speech_recorded(path: Path) -> Speech:
    trace = read_trace(path, str(path))
    calls = [*(call for step in trace.steps for call in step.calls), *trace.calls]
    return speech_of(calls[0].model) if calls else "tools"
