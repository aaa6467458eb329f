"""Who worked on what: from an agent's own arguments, else from where its log lies."""

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.importing.history import AgentLog
from mlagentbench.run.importing.tasks import known_task
from mlagentbench.run.importing.texts import as_name
from mlagentbench.run.plan import agent_label, model_label

_UNKNOWN = "unknown"
_ROLES = {"editor": "edit_script_llm_name", "helper": "fast_llm_name"}


class Who(Record):
    """An agent with a model on a task."""

    task: str
    agent: str
    model: str

    def run(self, seed: int) -> RunId:
        """Name one of its runs; ours are told apart by seeds, theirs by number."""
        return RunId(task=self.task, agent=self.agent, model=self.model, seed=seed)


def who_ran(parts: tuple[str, ...], log: AgentLog) -> Who:
    """Name a run; `parts` are the folders on the way to its log."""
    task_at = _task_at(parts)
    asked = _plain(log.settings.get("task"))
    folder = parts[task_at] if task_at is not None else ""
    name = asked if asked != _UNKNOWN else _plain(folder)
    return Who(
        task=known_task(name) or name,
        agent=_agent(log.settings),
        model=_model(log.settings, parts[task_at - 1] if task_at else ""),
    )


def _task_at(parts: tuple[str, ...]) -> int | None:
    found = [at for at, part in enumerate(parts) if known_task(part) is not None]
    return found[-1] if found else None


def _agent(settings: dict[str, str]) -> str:
    said = {}
    if kind := as_name(settings.get("agent_type")):
        said["agent"] = kind
    if settings.get("retrieval") == "true":
        said["retrieval"] = "yes"
    return agent_label("original", said)


def _model(settings: dict[str, str], folder: str) -> str:
    if "llm_name" not in settings:
        return _plain(folder)
    main = _plain(settings["llm_name"])
    roles = {role: _plain(settings.get(name)) for role, name in _ROLES.items()}
    others = {
        role: name for role, name in roles.items() if name not in (main, _UNKNOWN)
    }
    return model_label(main, others)


def _plain(value: str | None) -> str:
    return as_name(value) or _UNKNOWN
