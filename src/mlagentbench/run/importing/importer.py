"""Importing a folder of the original's logs as an experiment."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError, UsageError, blame
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.importing.finding import find_runs
from mlagentbench.run.importing.history import read_agent_log
from mlagentbench.run.importing.naming import Who, who_ran
from mlagentbench.run.importing.one_run import Origin, judged, trace_of
from mlagentbench.run.importing.reading import LogTree, shown
from mlagentbench.run.importing.results import Results, read_results
from mlagentbench.run.importing.tasks import original_task
from mlagentbench.run.tracefile import TraceWriter


class Imported(Record):
    """What came of an import: `imported.json` beside the scorecards."""

    source: str
    runs: dict[str, str]
    """By run: the folder it came from."""
    scored: int
    """Runs of which the original's own evaluation said something."""
    warnings: tuple[str, ...]


def import_original(source: Path, out: Path, results: Sequence[Path] = ()) -> Imported:
    """Read every run below `source` into a new experiment at `out`."""
    tree = LogTree(source)
    folders = find_runs(tree)
    if not folders:
        raise UsageError(f"there is no env_log/trace.json anywhere below {source}")
    known = read_results(results, tree)
    experiment = _new(out)
    with experiment.held():
        importer = _Importer(source, tree, known, experiment)
        cards = [importer.card(folder) for folder in folders]
        experiment.replace(cards)
        came_from = zip(cards, folders, strict=True)
        imported = Imported(
            source=shown(source.absolute().name),
            runs={card.run: shown(folder or ".") for card, folder in came_from},
            scored=importer.scored,
            warnings=tuple(tree.warnings),
        )
        _write(out, imported)
    return imported


def _new(out: Path) -> Experiment:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"{out} is there already; give another folder with --out")
    return Experiment(out)


def _write(out: Path, imported: Imported) -> None:
    with blame(RecordError, f"{out} cannot be written"):
        text = imported.model_dump_json(indent=2) + "\n"
        write_atomically(out / "imported.json", text)


class _Importer:
    """Reads one run after the other, and counts those of the same name."""

    def __init__(
        self, source: Path, tree: LogTree, results: Results, experiment: Experiment
    ) -> None:
        self._source = source.absolute()
        self._tree = tree
        self._results = results
        self._experiment = experiment
        self._seen: Counter[Who] = Counter()
        self.scored = 0

    def card(self, folder: str) -> Scorecard:
        """Write a run's trace and return its scorecard."""
        log = read_agent_log(self._tree, folder)
        below = tuple(folder.split("/")) if folder else ()
        who = who_ran((self._source.name, *below), log)
        self._seen[who] += 1
        run = who.run(self._seen[who])
        trace = trace_of(Origin(self._tree, folder, log), run)
        self._keep(run, trace)
        verdict = self._results.of(below or (self._source.name,), self._tree)
        self.scored += verdict is not None
        return judged(original_task(who.task, self._source), run, trace, verdict)

    def _keep(self, run: RunId, trace: Trace) -> None:
        with TraceWriter(self._experiment.trace(run)) as writer:
            for step in trace.steps:
                writer.append(step)
            if trace.end is not None:
                writer.append(trace.end)
