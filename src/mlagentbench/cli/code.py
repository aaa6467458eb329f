"""What a run made of the code it was given."""

from collections.abc import Mapping

from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Trace
from mlagentbench.report.diffs import CodeChanges, code_changes
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.final_code import final_code


def changes_of(
    experiment: Experiment, run: RunId, trace: Trace, starter: Mapping[str, str]
) -> CodeChanges:
    """Compare a run's last workspace, or what it submitted, with the starter."""
    folder = experiment.submission(run)
    found = final_code(experiment.snapshots, folder, trace, starter)
    return CodeChanges(
        files=code_changes(starter, found.texts, whole=found.whole),
        others=found.others,
        note=found.note,
    )
