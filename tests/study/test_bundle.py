"""A bundle keeps what was asked for, works elsewhere and names no machine."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.units import Units
from mlagentbench.experiment import Experiment
from mlagentbench.study import Cell
from mlagentbench.study.bundle import PathFilter, publish_bundle
from mlagentbench.study.store import open_store

pytestmark = pytest.mark.slow

AGENT = """
async def solve(context):
    for number in range(3):
        lines = "".join(f"{number} {line}\\n" for line in range(2000))
        await context.act("Write File", file_name="notes.txt", content=lines)
        if number == 1:
            await context.act("Execute Script", script_name=context.task.script)
    raise RuntimeError(f"{__file__} ends here")
"""
PUBLISH_ALL = """
import shutil, socket, sys
from pathlib import Path
from mlagentbench.experiment import Experiment, Plan
from mlagentbench.run import run
from mlagentbench.study import Cell
from mlagentbench.study.bundle import publish_bundle
from mlagentbench.study.store import open_store

task, base, host = sys.argv[1:]
if host:
    socket.sethostname(host)
cell = Cell(
    task=task, task_name="quick@1/mini", task_digest="0", agent="wanderer:solve"
)
made = run(cell.plan(Path(base) / "scratch", "made"))
for keep in ("submission", "best", "all"):
    private = Path(base) / "scratch" / keep
    shutil.copytree(made.folder, private)
    store = open_store(str(Path(base) / "study" / keep))
    assert publish_bundle(store, Experiment(private), cell, keep)
"""
HOST, USER = "host-of-this-test", "user-of-this-test"


class Bundles:
    """The bundles of one real run, by what they keep."""

    def __init__(self, base, task, words):
        self.task = task
        self.words = words
        (self.submission,) = (base / "study/submission/cells").iterdir()
        (self.best,) = (base / "study/best/cells").iterdir()
        (self.all,) = (base / "study/all/cells").iterdir()


@pytest.fixture(scope="module")
def bundles(tmp_path_factory, cache):
    """Run an agent of one's own on a task of one's own, in a git repository."""
    base = tmp_path_factory.mktemp("machine")
    task = base / "tasks" / "quick"
    shutil.copytree(QUICK_TASK, task)
    home = base / USER
    home.mkdir()
    (home / "wanderer.py").write_text(AGENT)
    for words in (
        ("init", "-q"),
        ("remote", "add", "origin", f"{USER}@{HOST}:x.git"),
        ("-c", "user.name=a", "-c", "user.email=a", "commit", "-qm1", "--allow-empty"),
    ):
        subprocess.run(("git", *words), cwd=home, check=True)
    is_root = os.geteuid() == 0
    new_host = ("unshare", "--uts") if is_root else ()
    subprocess.run(
        (
            *(*new_host, sys.executable, "-c", PUBLISH_ALL),
            *(str(task), str(base), HOST if is_root else ""),
        ),
        cwd=home,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "USER": USER,
            "LOGNAME": USER,
            "MLAB_CACHE": str(cache),
            "PYTHONPATH": str(home),
        },
        check=True,
        timeout=300,
    )
    names = (base, home, cache, sys.prefix, sys.base_prefix, Path(__file__).parents[2])
    return Bundles(base, task, [*map(str, names), HOST, USER])


def texts(folder):
    """Yield the name and every byte of each file, also inside of Inspect's logs."""
    for path in sorted(folder.rglob("*")):
        yield str(path.relative_to(folder)), str(path.relative_to(folder)).encode()
        if path.is_file():
            yield path.name, path.read_bytes()
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as members:
                for name in members.namelist():
                    yield name, members.read(name)


def test_bundle_names_neither_machine_nor_user(bundles):
    searched = [*texts(bundles.all)]
    assert any(name == "header.json" for name, _ in searched)
    found = {
        (name, word)
        for name, data in searched
        for word in bundles.words
        if word.encode() in data
    }
    assert found == set()
    # The path of the agent's code was there.
    (trace,) = bundles.all.glob("trace/*.jsonl")
    assert "<code>/wanderer.py ends here" in trace.read_text()


def snapshots(bundle):
    return {path.stem for path in bundle.glob("snapshots/manifests/*")}


def size(bundle):
    return sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())


def test_bundle_keeps_the_snapshots_that_were_asked_for(bundles):
    (trace,) = bundles.all.glob("trace/*.jsonl")
    steps = [json.loads(line) for line in trace.read_text().splitlines()[:4]]
    measured = [step["snapshot"] for step in steps if step["validation"]]
    assert snapshots(bundles.all) == {step["snapshot"] for step in steps}
    assert snapshots(bundles.best) == {*measured, steps[-1]["snapshot"]}
    assert len(snapshots(bundles.best)) == 2
    assert snapshots(bundles.submission) == set()
    assert size(bundles.submission) < size(bundles.best) < size(bundles.all)
    for bundle in (bundles.submission, bundles.best, bundles.all):
        assert len([*bundle.glob("submissions/*/submission.csv")]) == 1
        assert not [*bundle.glob("report.html"), *bundle.glob(".*")]


@pytest.mark.parametrize("keep", ["submission", "best"])
def test_bundle_is_an_experiment(bundles, keep, mlab, tmp_path, monkeypatch):
    bundle = shutil.copytree(getattr(bundles, keep), tmp_path / "elsewhere")
    before = Experiment(bundle).scorecards
    monkeypatch.setenv("MLAB_TASK_PATH", str(bundles.task))
    shown = mlab("show", bundle)
    assert "crashed" in shown.out
    rescored = mlab("score", bundle)
    assert rescored.code == 0, rescored.err
    (card,) = Experiment(bundle).scorecards
    assert (card.score, card.ending) == (before[0].score, before[0].ending)
    reported = mlab("report", bundle, "--out", tmp_path / "report.html")
    assert reported.code == 0, reported.err
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_log_that_a_killed_run_left_is_not_published(recorded, tmp_path):
    experiment = Experiment(recorded("starter"))
    (experiment.folder / "logs").mkdir(exist_ok=True)
    (experiment.folder / "logs" / "half.eval").write_bytes(b"PK\x03\x04half")
    cell = Cell(task="x", task_name="quick@1/mini", task_digest="0", agent="starter")
    store = open_store(str(tmp_path / "study"))
    assert publish_bundle(store, experiment, cell, "best")
    published = store.open_experiment(cell.id)
    assert (published / "cell.json").exists()
    assert not (published / "logs" / "half.eval").exists()
    assert not publish_bundle(store, experiment, cell, "best")


def test_units_of_runs_are_published_as_they_are(recorded, tmp_path):
    experiment = Experiment(recorded("starter"))
    units = Units(values=((0.5,), (0.25,)))
    run, *_ = experiment.runs()
    experiment.write_units(run, units)
    like_a_path = str(experiment.folder).encode()
    (experiment.folder / "units" / "other.npz").write_bytes(like_a_path)
    cell = Cell(task="x", task_name="quick@1/mini", task_digest="0", agent="starter")
    store = open_store(str(tmp_path / "study"))
    assert publish_bundle(store, experiment, cell, "submission")
    published = store.open_experiment(cell.id)
    assert Experiment(published).units == {str(run): units}
    assert (published / "units" / "other.npz").read_bytes() == like_a_path


def test_paths_are_replaced_however_they_are_written():
    paths = {
        Path("/ada"): "<home>",
        Path("/ada/cäche"): "<cache>",
        Path("/data/a b"): "<study>",
    }

    def clean(text):
        return PathFilter(paths).clean(text.encode()).decode()

    assert clean("/ada/x /ada. /ada") == "<home>/x <home>. <home>"
    assert clean("/ada/cäche/y") == "<cache>/y"
    assert clean(json.dumps({"a": "/ada/cäche/y"})) == '{"a": "<cache>/y"}'
    assert clean(json.dumps({"a": "in\n/ada/x"})) == json.dumps({"a": "in\n<home>/x"})
    assert clean("file:///data/a%20b/c") == "file://<study>/c"
    unchanged = "/workspace/ada /adafs /ada-2 /ada.d /data/a bc"
    assert clean(unchanged) == unchanged
