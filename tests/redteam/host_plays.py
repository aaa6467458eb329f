"""Attacks on the host's own hands: names and links that actions are asked to use."""

import asyncio

from tests.redteam.attack import Observed, Seen
from tests.redteam.baits import label_rows
from tests.redteam.scene import Scene

SHELL_NAMES = (
    "x.py;touch pwned",
    "x.py;mkdir pwned #.py",
    "$(touch pwned).py",
    "`touch pwned`.py",
    "x.py|touch pwned",
    "x.py&&touch pwned",
    "-cimport os;os.mkdir('pwned')",
    "--help",
)
DATA_NAMES = (
    "data/train.csv",
    "./data/train.csv",
    "data//train.csv",
    "data/./train.csv",
    "a/../data/train.csv",
    "/workspace/data/train.csv",
    "//workspace/data/train.csv",
    "data/new.csv",
    "data",
    "d/train.csv",
    "t.csv",
    "evaluate.py",
    "./evaluate.py",
    "a/../evaluate.py",
    "e.py",
)


def names_that_lead_out(scene_labels: str) -> tuple[str, ...]:
    """Return every way to name the labels for an action."""
    return (
        scene_labels,
        f"..{scene_labels}",
        f"../../../../../../../..{scene_labels}",
        f"data/../../../../../../../..{scene_labels}",
        "data/../../private/answers.csv",
        f"/workspace/../..{scene_labels}",
        f"/workspace{scene_labels}",
        f"top{scene_labels}",
        f"magic{scene_labels}",
        "private/answers.csv",
        "labels.csv",
        "/proc/self/environ",
        "/etc/passwd",
    )


async def name_is_only_a_name(scene: Scene) -> Seen:
    """Demand that a file name is never taken for a command or an option."""
    for name in SHELL_NAMES:
        text = scene.attack.script
        await scene.act("Write File", file_name=name, content=text)
        await scene.act("Execute Script", script_name=name)
    pwned = (scene.workspace / "pwned").exists()
    return Seen(
        succeeded=pwned,
        evidence=f"{len(SHELL_NAMES)} names executed, a command in a name "
        f"{'ran' if pwned else 'never ran'}",
    )


async def actions_keep_off_the_data(scene: Scene) -> Seen:
    """Demand that no action writes to read-only files under any name."""
    await scene.run()
    steps = [step for name in DATA_NAMES for step in await _writes(scene, name)]
    done = [str(step.given) for step in steps if step.ok]
    return Seen(
        succeeded=bool(done),
        evidence=f"{len(done)} of {len(steps)} actions were carried out {done[:3]}",
    )


async def _writes(scene: Scene, name: str) -> list[Observed]:
    return [
        await scene.act("Write File", file_name=name, content="x"),
        await scene.act("Append File", file_name=name, content="x"),
        await scene.act("Copy File", source="train.py", destination=name),
    ]


async def actions_stay_inside(scene: Scene) -> Seen:
    """Demand that no action reads anything outside the workspace."""
    await scene.run()
    labels = str(scene.stage.hints["labels"])
    names = names_that_lead_out(labels)
    steps = [await scene.act("Read File", file_name=name) for name in names]
    rows = label_rows(scene.stage.order).decode()
    done = [step.given for step in steps if step.ok or rows in step.text]
    return Seen(
        succeeded=bool(done),
        evidence=f"{len(done)} of {len(names)} names were read {done[:3]}",
    )


async def never_follows_a_swap(scene: Scene) -> Seen:
    """Demand that a folder swapped for a link while it is read lets nothing out."""
    swapping = asyncio.ensure_future(scene.run())
    rows = label_rows(scene.stage.order)
    looks = leaks = 0
    while not swapping.done():
        try:
            path = "/workspace/swap/answers.csv"
            leaks += rows in await scene.sandbox.read_file(path, text=False)
        except OSError:
            pass
        looks += 1
        await asyncio.sleep(0)
    said = (await swapping).text.splitlines()[-1]
    return Seen(succeeded=leaks > 0, evidence=f"{leaks} leaks in {looks} looks; {said}")


async def listing_is_plain(scene: Scene) -> Seen:
    """Demand that a listing shows one printable line for each file."""
    await scene.run()
    listed = (await scene.act("List Files", dir_path=".")).text
    lines = listed.splitlines()
    odd = [ascii(line) for line in lines if not line.isprintable()]
    forged = [line for line in lines if line.startswith("forged")]
    return Seen(
        succeeded=bool(odd or forged),
        evidence=f"{len(lines)} lines, not printable or forged: {odd + forged}",
    )
