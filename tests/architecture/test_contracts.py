"""The rules a tool can hold, held locally too."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for path in (ROOT / "src").rglob("*.py")
    if not {"starter", "reference"} & set(path.parts)
)


def test_imports_go_one_way():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_every_folder_says_what_it_is_for():
    folders = {path.parent for path in SOURCES if "suite" not in path.parts}
    for folder in folders:
        head = (folder / "__init__.py").read_text()
        assert head.startswith('"""'), folder


def test_help_and_task_list_load_neither_the_engine_nor_numerical_libraries():
    code = (
        "import sys; from mlagentbench.cli.main import mlab\n"
        "for words in (['--help'], ['tasks'], ['agents'], ['compare', '--help']):\n"
        "    mlab.main(words, standalone_mode=False)\n"
        "heavy = {'inspect_ai', 'numpy', 'scipy', 'jinja2', 'optuna'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
