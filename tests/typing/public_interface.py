"""Uses of the public interface, checked by mypy and never run."""

from pathlib import Path

import mlagentbench as ml


async def agent(context: ml.Context) -> None:
    step: ml.Step = await context.act("Execute Script", script_name="train.py")
    if step.ok and context.remaining().steps > 1:
        await context.act("Final Answer", final_answer=step.observation)


solver: ml.Agent = agent


def grade(answers: Path, truth: Path) -> float | ml.Graded:
    if answers == truth:
        raise ml.SubmissionError("the answers are the truth")
    return ml.Graded(score=0.5, units=(0.0, 1.0))


grader: ml.Grade = grade


class Watcher:
    def run_started(self, run: ml.RunId, task: ml.Task) -> None: ...

    def step_taken(self, run: ml.RunId, step: ml.Step) -> None: ...

    def run_ended(self, run: ml.RunId, ending: str) -> None: ...


def use() -> None:
    names: list[str] = ml.list_tasks()
    task: ml.Task = ml.load_task(names[0])
    assert all(finding.ok for finding in ml.check_task(task))
    observer: ml.RunObserver = Watcher()
    experiment = ml.run(tasks=[task.id], agent="tuner", seeds=3, observer=observer)
    ml.run(ml.Plan(tasks=("house-price",)))
    again = ml.open_experiment(experiment.folder)
    resumed: list[ml.RunId] = ml.resume(again)
    cards: list[ml.Scorecard] = ml.rescore(again, steps=True)
    for card in experiment.scorecards:
        print(card.run, card.score, card.success, card.ending is ml.Ending.SUBMITTED)
    trace: ml.Trace = experiment.trace(resumed[0])
    print(trace.steps[-1].observation, len(cards), experiment.warnings)
    found = ml.compare(experiment, again).success
    print(found.holm_p if found else None)
    page: Path = ml.write_report([experiment, again], "report.html")
    budget: ml.Budget = task.budget
    print(page, budget.steps)


def use_study() -> None:
    study = ml.run_study("study.toml", on="local", parallel=2, out="runs/small")
    again = ml.open_study(study.address)
    cards: list[ml.Scorecard] = again.scorecards
    print(len(study.cells), len(study.experiments), [one.id for one in again.missing])
    status = study.status()
    print(status.counts, status.cost_usd, status.expected_end, len(cards))
    ml.write_report([study, *again.experiments], "report.html")
    print(ml.compare(study, ml.open_experiment("runs/other")).success)
    study.cancel()
