"""How long does the report of a whole study take, and how large is it?

Thirteen tasks, eight runs, four agents, fifty steps a run: made up, but with texts as
long as real ones and everything a scorecard can say. Exits 1 where the page takes
longer or is larger than promised.
"""

import random
import resource
import sys
import time

from mlagentbench.core.scorecard import (
    BudgetPoint,
    FailureMode,
    Finding,
    Harness,
    Level,
    ProcessCheck,
    RunSeconds,
    SandboxUsed,
    Scorecard,
    Starter,
)
from mlagentbench.core.success import gap_closed, success_threshold
from mlagentbench.core.task import Direction, Scale
from mlagentbench.core.trace import Ending, Measurement, Seconds, Spent, Step, Trace
from mlagentbench.evaluation.process.examine import CHECKS
from mlagentbench.report.data import CodeChanges, ExperimentView, code_changes
from mlagentbench.report.page import render

SECONDS = 20.0
MEGABYTES = 6.0
RUNS, STEPS = 8, 50
TASKS = (
    *("cifar10", "imdb", "ogbn-arxiv", "house-price", "spaceship-titanic"),
    *("parkinsons-disease", "fathomnet", "feedback", "identify-contrails"),
    *("llama-inference", "vectorization", "CLRS", "BabyLM"),
)
AGENTS = {
    ("tuner", "none"): 0.08,
    ("research", "example/large"): 0.22,
    ("research", "example/small"): 0.1,
    ("classic", "example/large"): 0.15,
}
TOKENS = {"tuner": 0, "research": 400_000, "classic": 150_000}
STARTER = Starter(mean=0.5, sd=0.004, n=8)
TUNED, REFERENCE = (Starter(mean=mean, sd=0.004, n=8) for mean in (0.54, 0.65))
CODE = "".join(f"layer_{n} = block(width={n}, dropout=0.1)\n" for n in range(120))
EDITED = CODE.replace("dropout=0.1", "dropout=0.3")
OBSERVATION = "epoch 3 of 10, loss 0.6312, validation 0.5120, 12.4 s\n" * 25


def main() -> int:
    """Make the study, render it, and print both numbers."""
    view = study()
    started = time.perf_counter()
    page = render(view)
    seconds = time.perf_counter() - started
    size = len(page.encode()) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kept = seconds <= SECONDS and size < MEGABYTES
    print(
        f"{'ok' if kept else 'NO'} report of {len(view.cards)} runs of {STEPS} steps: "
        f"{seconds:.1f} s (at most {SECONDS:g}), {size:.2f} MB (under {MEGABYTES:g}), "
        f"{peak:.0f} MB of memory"
    )
    return 0 if kept else 1


def study() -> ExperimentView:
    """Make up every run of every agent on every task."""
    dice = random.Random(8)
    cards = [
        made_card(task, agent, model, seed, dice)
        for task in TASKS
        for agent, model in AGENTS
        for seed in range(RUNS)
    ]
    changes = CodeChanges(files=code_changes({"train.py": CODE}, {"train.py": EDITED}))
    return ExperimentView(
        title="Four agents on thirteen tasks, made up",
        created="2026-11-16 08:00 UTC",
        cards=tuple(cards),
        traces=tuple(made_trace(card, dice) for card in cards),
        step_scores={card.run: _step_scores(card, dice) for card in cards},
        code={card.run: changes for card in cards},
    )


def made_card(
    task: str, agent: str, model: str, seed: int, dice: random.Random
) -> Scorecard:
    """Make up one run; one in twelve leaves nothing valid, one in fifty is broken."""
    ending = Ending.BROKEN if dice.random() < 0.02 else Ending.SUBMITTED
    valid = ending.counts and dice.random() > 0.08
    gain = dice.gauss(AGENTS[agent, model], 0.1) if valid else None
    success = gain is not None and gain > 0.1
    closed = gap_closed(
        STARTER.mean * (1 + (gain or 0.0)), STARTER.mean, REFERENCE.mean, Scale.LINEAR
    )
    return Scorecard(
        run=f"{task}:{agent}:{model}:{seed}",
        task=task,
        version=1,
        edition="mini",
        agent=agent,
        model=model,
        seed=seed,
        ending=ending,
        reason=None if ending.counts else "the grader ran out of disk",
        metric="accuracy",
        direction=Direction.HIGHER,
        score=None if gain is None else STARTER.mean * (1 + gain),
        submission_error="12 ids are missing" if ending.counts > valid else None,
        starter=STARTER,
        improvement=gain,
        success=success,
        significant=success,
        gap_closed=None if gain is None else closed,
        normalised=max(0.0, closed or 0.0),
        level=_level(closed or 0.0),
        tuned=TUNED,
        reference=REFERENCE,
        validation_queries=STEPS // 2,
        cpu_seconds=dice.uniform(300, 600),
        calibration_seconds=2.0,
        steps=STEPS,
        actions={"Edit Script": 20, "Execute Script": 25, "Final Answer": 1},
        process={name: _check(dice) for name in CHECKS},
        failure=None if success else dice.choice(list(FailureMode)),
        by_budget=_by_budget(gain),
        tokens=_tokens(agent, dice),
        cost_usd=TOKENS[agent] * dice.uniform(2e-6, 4e-6),
        seconds=RunSeconds(
            total=dice.uniform(900, 2400), model=300, execute=500, harness=40
        ),
        sandbox=SandboxUsed(provider="bwrap", limits="1 cpu, 4096 MB"),
        harness=Harness(version="0.1.0", inspect_ai="0.3.290"),
        created="2026-11-16T08:00:00Z",
    )


def _level(closed: float) -> Level:
    least = {Level.GOLD: 1.0, Level.SILVER: 0.5, Level.BRONZE: 0.3}
    return next((level for level, at in least.items() if closed >= at), Level.NONE)


def made_trace(card: Scorecard, dice: random.Random) -> Trace:
    """Make up fifty steps: think, edit, execute."""
    steps = [
        Step(
            run=card.run,
            step=number,
            agent_step=number,
            fields={"Plan": "Lower the learning rate, then widen. " * 12},
            action="Execute Script" if number % 2 else "Edit Script",
            input={"script_name": "train.py", "edit": EDITED if number % 2 else ""},
            observation=OBSERVATION,
            ok=number % 7 != 0,
            error=None if number % 7 else "execution_failed",
            validation=_measured(card, number, dice) if number % 2 else None,
            spent=Spent(
                steps=number,
                seconds=20.0 * number,
                tokens=TOKENS[card.agent] * number // STEPS,
                cost=card.cost_usd * number / STEPS,
            ),
            seconds=Seconds(model=6, execute=12, harness=0.5),
            started="2026-11-16T08:00:00Z",
        )
        for number in range(1, STEPS + 1)
    ]
    return Trace(run=card.run, steps=tuple(steps))


def _check(dice: random.Random) -> ProcessCheck:
    if dice.random() < 0.7:
        return ProcessCheck()
    finding = Finding(
        steps=(3, 9), quote=OBSERVATION[:300], why="Said, never measured."
    )
    return ProcessCheck(value=2, evidence=(finding, finding))


def _by_budget(gain: float | None) -> tuple[BudgetPoint, ...]:
    bar = success_threshold(STARTER.mean, Direction.HIGHER)
    scores = [
        (steps, None if gain is None else STARTER.mean * (1 + gain * steps / STEPS))
        for steps in (10, 20, STEPS)
    ]
    return tuple(
        BudgetPoint(steps=steps, score=score, success=score is not None and score > bar)
        for steps, score in scores
    )


def _tokens(agent: str, dice: random.Random) -> dict[str, int]:
    read = round(TOKENS[agent] * dice.uniform(0.5, 1.5))
    return {"input": read, "output": read // 8, "cached": read // 3}


def _measured(card: Scorecard, number: int, dice: random.Random) -> Measurement:
    gain = (card.improvement or 0.0) * number / STEPS + dice.gauss(0, 0.03)
    return Measurement(metric=card.metric, value=STARTER.mean * (1 + gain))


def _step_scores(card: Scorecard, dice: random.Random) -> tuple[tuple[int, float], ...]:
    gain = card.improvement or 0.0
    return tuple(
        (step, STARTER.mean * (1 + gain * step / STEPS + dice.gauss(0, 0.02)))
        for step in (10, 20, 50)
    )


if __name__ == "__main__":
    sys.exit(main())
