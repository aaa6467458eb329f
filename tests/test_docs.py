"""README and docs: pages are up to date, links lead somewhere, commands work."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
import pytest
from loopback import provider

from mlagentbench.cli.main import mlab as mlab_group
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.trace import Called, End, Ending, Resumed, Step
from mlagentbench.experiment.plan import ExperimentSpec
from mlagentbench.experiment.trace_file import read_trace
from mlagentbench.study.study_file import StudyFile

PROJECT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{path.name}" for path in PROJECT.glob("docs/*.md"))]
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^(?:\$ |    )?|`)(mlab [a-z][^`\n]*)", re.MULTILINE)

_OTHER_COMMANDS = re.compile(r"\$\(.*?\)|(?: #|&&|;|\||>).*")


def text_of(page):
    return (PROJECT / page).read_text()


def tool(name):
    path = PROJECT / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("suite_page", "suite"),
        ("study_page", "study"),
        ("cli_page", "cli"),
        ("files_page", "experiment-files"),
    ],
)
def test_a_generated_page_is_up_to_date(name, page):
    written = text_of(f"docs/{page}.md")
    assert tool(name).page() == written, "run `make docs`"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    for target, heading in _LINK.findall(text_of(page)):
        path = (PROJECT / page).parent / target if target else PROJECT / page
        assert path.exists(), target
        if heading:
            assert heading in anchors(path.read_text()), f"{target}#{heading}"


def anchors(text):
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", text), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings]


def test_every_page_is_in_the_index():
    index = text_of("docs/index.md")
    missing = {page for page in PAGES if f"({Path(page).name})" not in index}
    assert missing == {"README.md", "docs/index.md"}


def test_readme_counts_the_tasks_by_kind_of_data(mlab):
    tasks = json.loads(mlab("tasks", "--json").out)
    kinds = Counter(task["data"] for task in tasks)
    sentence = (
        f"{len(tasks)} tasks: {kinds['real']} use real data, {kinds['substitute']} a"
        f" substitute, {kinds['semi-synthetic']} semi-synthetic and"
        f" {kinds['generated']} generated data"
    )
    assert sentence in " ".join(text_of("README.md").split())


def test_every_field_of_a_record_has_a_meaning():
    page, writer = text_of("docs/experiment-files.md"), tool("files_page")
    for record in (ExperimentSpec, Step, Called, Resumed, End, Scorecard, StudyFile):
        for model in writer.with_nested(record):
            assert f"\n### {model.__name__}\n" in page
            stored = {n for n, one in model.model_fields.items() if not one.exclude}
            for name in stored:
                row = f"| `{name}` | "
                assert row in page
                assert writer.meaning(model, name), f"{model.__name__}.{name}"


@pytest.mark.parametrize("ending", Ending)
def test_every_ending_is_explained(ending):
    rows = [row for row in text_of("docs/budget.md").splitlines() if "|" in row]
    (row,) = [row for row in rows if row.startswith(f"| `{ending}` |")]
    assert (row.split("|")[3].strip() == "yes") == ending.counts


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_a_page_have_only_options_that_exist(page):
    text = re.sub(r"^```text\n.*?^```$", "", text_of(page), flags=re.M | re.S)
    for line in _COMMAND.findall(text):
        words = _OTHER_COMMANDS.sub("", line).split()[1:]
        command = mlab_group
        while isinstance(command, click.Group) and words:
            command = command.get_command(click.Context(command), words.pop(0))
            assert command is not None, line
        known = {flag for option in command.params for flag in option.opts}
        flags = {word for word in words if re.match("--?[A-Za-z]", word)}
        assert flags <= known | {"--help", "--debug"}, line


def test_quotes_of_the_annotated_run_are_in_its_record():
    text = text_of("docs/example.md")
    (record,) = re.findall(r"\]\(\.\./(.*jsonl)\)", text)
    steps = {one.step: one for one in read_trace(PROJECT / record, "run").steps}
    sections = re.findall(r"^## Step (\d+): (.*)\n((?:.|\n)*?)(?=^## )", text, re.M)
    assert len(sections) == 10
    for number, action, section in sections:
        step = steps[int(number)]
        assert step.action == action
        said = "\n".join([step.told, *map(str, step.input.values())])
        assert all(quote.strip() in said for _, quote in _FENCED.findall(section)), (
            number
        )


def test_the_annotated_run_has_the_result_of_its_scorecard():
    text = text_of("docs/example.md")
    (card, *_) = map(
        Scorecard.model_validate_json, text_of("docs/study-runs.jsonl").splitlines()
    )
    assert card.run in f"house-price:research[ideas=off]:{card.model}:0"
    assert f"| test score | {card.score:,.0f} dollars |" in text
    assert f"| improvement | {card.improvement:+.1%} |".replace("%", " %") in text


def test_commands_and_shown_output_are_found_on_a_page(tmp_path, monkeypatch):
    fresh = tool("fresh")
    monkeypatch.setattr(fresh, "PROJECT", tmp_path)
    (tmp_path / "page.md").write_text(
        "```console\n$ echo 'score   17'; cd /\nscore     18 dollars\n```\n"
        "<!-- file: a.py -->\n```python\nprint(1)\n```\n"
        "<!-- key -->\n```sh\nfalse\n```\n```text\nno\n```\n```sh\npwd\nfalse\n```\n"
    )
    (first, file, last) = fresh.chosen(["page.md"], {""})
    assert (first.labels, last.script) == (["score"], "pwd\nfalse\n")
    assert fresh.run_blocks([file, first], tmp_path, {}) == []
    assert (tmp_path / "a.py").read_text() == "print(1)\n"
    (failed,) = fresh.run_blocks([first, last], tmp_path, {})
    assert failed == f"{last.name}: failed with exit code 1"
    wrong = fresh.Block("p:1", "console", "", "$ echo mae\nscore 1\n")
    assert "begins with 'score'" in fresh.run_blocks([wrong], tmp_path, {})[0]


@pytest.mark.slow
def test_quickstart_leads_to_the_scorecard_of_an_own_agent(cache):
    command = [sys.executable, PROJECT / "tools" / "fresh.py", "--here"]
    pages = ["docs/quickstart.md", "docs/add-an-agent.md"]
    environment = os.environ | {"MLAB_CACHE": str(cache)}
    done = subprocess.run(
        [*command, *pages],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/models-and-keys.md"])
def test_commands_with_a_key_work_with_a_local_server(page, cache, tmp_path):
    fresh = tool("fresh")
    wanted = fresh.chosen([page], {"key", ""} if page.startswith("docs") else {"key"})
    with provider("fake_models.research:tools") as server:
        (url,) = {server.environment["LOOPBACK_BASE_URL"]}
        blocks = [
            replace(one, text=one.text.replace("http://localhost:8000/v1", url))
            for one in wanted
        ]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {"PATH": path, "MLAB_CACHE": str(cache), "OPENAI_BASE_URL": url}
        assert fresh.run_blocks(blocks, tmp_path, environment) == []
    cards = [*tmp_path.glob("runs/*/scorecards.jsonl")]
    scored = [json.loads(card.read_text())["score"] for card in cards]
    assert len(scored) == sum(one.script.count("mlab run") for one in blocks)
    assert all(scored)


@pytest.mark.slow
def test_commands_of_the_page_about_the_paper_work(cache, tmp_path):
    fresh = tool("fresh")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "MLAB_CACHE": str(cache)}
    wanted = fresh.chosen(["docs/paper.md"], {""})
    assert fresh.run_blocks(wanted, tmp_path, environment) == []
    assert "house{-}price & 0.0 \\\\" in (tmp_path / "tables.tex").read_text()
    assert "mini,Average,starter,1,2,2," in (tmp_path / "tables.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_python_on_a_page_runs(page, cache, tmp_path):
    for block in tool("fresh").blocks(page):
        if (block.language, block.mark) == ("python", ""):
            subprocess.run(
                [sys.executable, "-c", block.text],
                cwd=tmp_path,
                env=os.environ | {"MLAB_CACHE": str(cache)},
                check=True,
            )
