"""Modules have findable names and declared one-way imports; agents can be replayed."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src" / "mlagentbench"
SUITE = PACKAGE / "tasks" / "suite"
TEMPLATES = "templates"
COMMANDS = ("cli", "commands")
ARCHITECTURE = PROJECT / "docs" / "architecture.md"
QUESTIONS = (
    "success threshold",
    "starter noise",
    "trace",
    "timeouts",
    "reply parsing",
    "model provider",
    "ctrl-c",
    "option",
    "action",
    "executor",
)
_CHECKS = "one file per subject of the checks; `examine` has the table"
_PROCESS = "runs in a process of its own"
_TASKS = "imported by task folders, whose digests hold this path"
_EXECUTOR = "one file per executor"
_LENGTH = "too long for one file with its importer"
ONE_IMPORTER = {
    "agents.paper.loop": "one loop for several agents",
    "agents.research.researcher": _LENGTH,
    "environment.sandbox.disk_use": _LENGTH,
    "environment.sandbox.memory_use": _LENGTH,
    "environment.sandbox.timeouts": "people look for timeouts by that name",
    "environment.snapshots.restore": _LENGTH,
    "environment.snapshots.retention": _LENGTH,
    "evaluation.process.claims": _CHECKS,
    "evaluation.process.forbidden": _CHECKS,
    "evaluation.process.result": _CHECKS,
    "grading.code_process": _PROCESS,
    "grading.driver_main": _PROCESS,
    "grading.grader_process": _PROCESS,
    "report.caveats": _LENGTH,
    "report.charts": _LENGTH,
    "report.code_changes": "one file per section of the page",
    "run.llm_judge.prompt": "what a judge reads, apart from how it is asked",
    "run.models.local_server": _PROCESS,
    "run.run_context": "the contract of agents, apart from how a run begins and ends",
    "study.bundle": "what a bundle holds, apart from how a cell runs",
    "study.cell_process": _PROCESS,
    "study.local_executor": _EXECUTOR,
    "study.ray_executor": _EXECUTOR,
    "study.ray_task": _PROCESS,
    "study.slurm_executor": _EXECUTOR,
    "tasks.check.checks": _LENGTH,
    "tasks.check.probes": _TASKS,
    "tasks.suite_data": _TASKS,
    "tasks.suite_papers": _TASKS,
}
"""Modules that only one module of their folder imports, each with the reason."""

EXTRAS = ("langchain", "local", "ray", "slurm")
"""The extras for users."""

PART_OF_OTHERS = {"langchain-core", "pydantic-core"}
"""Distributions that langchain and pydantic consist of, in exactly fitting versions."""


def relative(path):
    return path.relative_to(PACKAGE)


SOURCES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.is_relative_to(SUITE)
    and TEMPLATES not in path.parts
    and path.name != "__main__.py"
]
MODULES = {
    ".".join(("mlagentbench", *relative(path).with_suffix("").parts)): path
    for path in SOURCES
    if path.name != "__init__.py"
}


def duplicates(names):
    return sorted(name for name, count in Counter(names).items() if count > 1)


def test_no_file_name_occurs_twice_in_one_top_level_folder():
    in_folders = [(relative(path).parts[0], path.stem) for path in MODULES.values()]
    assert duplicates(in_folders) == []


def test_folders_share_a_file_name_only_with_the_command_of_that_name():
    names = [
        path.stem for path in MODULES.values() if relative(path).parts[:2] != COMMANDS
    ]
    assert duplicates(names) == []


def imported_names(path):
    """Yield every dotted name that a file imports or has in a string.

    Strings count, because tables of agents and commands for processes name modules.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Constant(value=str(text)):
                yield text.partition(":")[0]


def importers():
    """Return for every module the files that import it, stubs of folders included."""
    found = defaultdict(set)
    for stub in PACKAGE.glob("*/__init__.pyi"):
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ImportFrom):
                found[f"mlagentbench.{stub.parent.name}.{node.module}"].add(stub)
    for path in SOURCES:
        for name in set(imported_names(path)) & set(MODULES):
            if MODULES[name] != path:
                found[name].add(path)
    return found


def test_a_module_with_one_importer_in_its_own_folder_is_part_of_it_or_has_a_reason():
    single = {
        name.removeprefix("mlagentbench.")
        for name, files in importers().items()
        if len(files) == 1
        for file in files
        # The `__init__` of a folder names what other folders use.
        if name in MODULES
        and file.parent == MODULES[name].parent
        and file.stem != "__init__"
    }
    assert single == set(ONE_IMPORTER)


def rows_of_where_is():
    """Yield question, file and name of each row of the table."""
    text = ARCHITECTURE.read_text()
    begin = re.search(r"(?im)^#+ .*where is.*$", text)
    table = text[begin.end() :].strip().split("\n\n")
    lines = next(part for part in table if part.startswith("|")).splitlines()
    for line in lines[2:]:
        question, file, names = (cell.strip() for cell in line.strip("| ").split("|"))
        yield question, file.strip("`"), re.findall(r"`([\w.]+)(?:\(\))?`", names)


def defined_in(path):
    """Return the functions, classes, methods and constants of a file."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name, body=body):
                methods = (ast.FunctionDef, ast.AsyncFunctionDef)
                found |= {name} | {
                    f"{name}.{one.name}" for one in body if isinstance(one, methods)
                }
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def words(text):
    return {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower())}


class TestWhereIs:
    """The table of docs/architecture.md."""

    def test_every_question_is_answered(self):
        asked = " ".join(question.lower() for question, *_ in rows_of_where_is())
        assert [one for one in QUESTIONS if one not in asked] == []

    def test_every_file_and_every_name_exists(self):
        for question, file, names in rows_of_where_is():
            path = next(
                (top / file for top in (PACKAGE, PROJECT) if (top / file).is_file()),
                None,
            )
            assert path, (question, file)
            assert names, question
            assert set(names) <= defined_in(path), (question, file)

    def test_most_files_are_named_after_their_question(self):
        named = [
            question
            for question, file, _ in rows_of_where_is()
            if words(question) & words(file)
        ]
        assert len(named) >= len(QUESTIONS) - 2, named


def third_party(paths):
    """Return the distributions that files import."""
    tops = set().union(*map(imported_packages, paths))
    distributions = importlib.metadata.packages_distributions()
    ours = {*sys.stdlib_module_names, "mlagentbench"}
    return {_normal(distributions.get(top, [top])[0]) for top in tops - ours}


def imported_packages(path):
    """Yield the top-level packages that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def declared():
    """Return the dependencies, and those of the extras for users."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def names(requirements):
        return {_normal(re.match(r"[\w.-]+", one)[0]) for one in requirements}

    optional = [one for name in EXTRAS for one in extras[name]]
    return names(project["dependencies"]), names(optional)


def test_what_is_imported_is_declared_and_what_is_declared_is_imported():
    on_host = ("grade.py", "metric.py", "prepare.py")
    tasks = [path for path in SUITE.glob("*/*.py") if path.name in on_host]
    always, extra = declared()
    by_package = third_party(SOURCES) - extra - PART_OF_OTHERS
    # A task imports modules of its own by their bare names, too.
    by_tasks = third_party(tasks) & always
    assert by_package | by_tasks == always


def test_imports_go_one_way():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_every_folder_says_what_it_is_for():
    for folder in {path.parent for path in SOURCES}:
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


FORBIDDEN = {
    *("time", "datetime", "random", "secrets", "uuid", "os", "socket", "subprocess")
}
CONTRACT = "context.py"


@pytest.mark.parametrize(
    "path",
    [path for path in (PACKAGE / "agents").rglob("*.py") if path.name != CONTRACT],
    ids=lambda path: path.stem,
)
def test_an_agent_has_no_clock_and_no_dice_of_its_own(path):
    assert not FORBIDDEN & set(imported_packages(path))


PRINTING = {
    "cli/output.py": "the cleaner itself",
    "cli/console.py": "its consoles clean what they render",
    "grading/code_process.py": "JSON for the harness, in a pipe",
    "grading/grader_process.py": "JSON for the harness, in a pipe",
    "run/outside_agent.py": "cleaned output of an agent",
    "study/cell_process.py": "the log of a cell, in a file",
}
"""Files that may write to a standard stream, each with the reason."""

_WRITERS = {
    "print", "click.echo", "click.secho", "Console", "rich.print", "Live",
    "sys.stdout.write", "sys.stderr.write", "sys.__stderr__.write",
    "traceback.print_exc", "traceback.print_exception", "logging.StreamHandler",
}  # fmt: skip


def writing_calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _WRITERS:
            yield ast.unparse(node.func)


def test_no_print_path_avoids_the_cleaner():
    found = {relative(path).as_posix() for path in SOURCES if any(writing_calls(path))}
    assert found == set(PRINTING)
