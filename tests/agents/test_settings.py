"""The agents by name, their code, and which settings each agent takes."""

import subprocess
import sys

import pytest

from mlagentbench.agents.catalogue import (
    AGENTS,
    check_name,
    code_digest,
    find_agent,
    load_agent,
)
from mlagentbench.agents.settings import (
    FIELDS,
    SMALL_MODEL,
    ClassicSettings,
    ModernSettings,
    read_research,
)
from mlagentbench.core.errors import UsageError

CLASSIC = {"style": "classic"}


@pytest.mark.parametrize(
    ("agent", "settings", "message"),
    [
        ("act", {"protocol": "morse"}, "choose from: text, tools, schema, auto"),
        ("act", {"log": "on"}, "no setting 'log'; its settings: protocol, max_"),
        ("react", {"max_agent_steps": "0"}, "'0' for -A max_agent_steps; give an "),
        ("react", {"max_agent_steps": "\u0665"}, "give an integer from 1"),
        ("research", {"style": "baroque"}, "choose from: classic, modern"),
        ("research", CLASSIC | {"log": "yes"}, "choose from: on, off"),
        ("research", CLASSIC | {"fields": "plan,ideas"}, "'plan,ideas' .*fact_check"),
        ("research", CLASSIC | {"trials": "3"}, "no setting 'trials'; its .*style"),
        ("research", CLASSIC | {"patience": "3"}, "no setting 'patience'"),
        ("research", {"steps_in_context": "3"}, "no setting 'steps_in_context'"),
        ("research", {"ideas": "good"}, "choose from: off, generic"),
        ("tuner", {"trials": "many"}, "'many' for -A trials; give an integer from"),
        ("tuner", {"trials": "5.0"}, "'5.0' for -A trials; give an integer"),
        ("tuner", {"trials": "1_000"}, "give an integer from 0 to 1,000,000"),
        ("tree", {"debug": "6"}, "give an integer from 0 to 5"),
        ("autogpt", {"protocol": "tools"}, "choose from: text, schema, auto"),
        ("bash", {"context": "9" * 5000}, "give an integer from 1"),
    ],
)  # fmt: skip
def test_invalid_settings_are_refused_with_the_valid_ones(agent, settings, message):
    with pytest.raises(UsageError, match=message) as refused:
        find_agent(agent).check_settings(settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_refuses_unknown_settings(agent):
    entry = find_agent(agent)
    entry.check_settings({})
    with pytest.raises(UsageError, match="this agent has no setting 'unknown'"):
        entry.check_settings({"unknown": "1"})


def test_an_outside_agent_reads_its_own_settings():
    find_agent("module:function").check_settings({"anything": "1"})


def test_fields_are_ordered_as_in_the_paper():
    assert ClassicSettings.read({"fields": "thought, plan"}).fields == (
        "Research Plan and Status",
        "Thought",
    )
    assert ClassicSettings.read({"fields": "none"}).fields == ()
    assert ClassicSettings().fields == tuple(FIELDS.values())


def test_the_style_decides_which_settings_the_research_agent_has():
    assert isinstance(read_research({"style": "classic"}), ClassicSettings)
    assert isinstance(read_research({}), ModernSettings)


def test_the_defaults_for_a_small_model_are_valid():
    small = ModernSettings.read(SMALL_MODEL | {"patience": "3"})
    assert (small.actions, small.log, small.patience) == ("few", "off", 3)


def test_settings_are_validated_without_importing_the_engine():
    code = (
        "import sys; from mlagentbench.agents.catalogue import find_agent;"
        "find_agent('research').check_settings({'actions': 'few'});"
        "sys.exit('inspect_ai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_can_be_loaded(name):
    assert callable(load_agent(find_agent(name)))


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean tuner"):
        find_agent("tunner")
    with pytest.raises(UsageError, match="unknown agent 'xyz'; run `mlab agents`"):
        find_agent("xyz")


def test_an_outside_agent_is_a_module_and_a_function():
    assert load_agent(find_agent("mlagentbench.agents.baselines:starter")).__name__
    with pytest.raises(UsageError, match="cannot import 'no_such_module'"):
        load_agent(find_agent("no_such_module:agent"))
    with pytest.raises(UsageError, match="has no function 'nobody'"):
        load_agent(find_agent("mlagentbench.agents.baselines:nobody"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose modules fail when they are imported."""
    folder = tmp_path / "own_agents"
    (folder / "deep").mkdir(parents=True)
    for name in ("__init__", "main", "deep/helper"):
        (folder / f"{name}.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_digest_of_code_covers_its_package_and_imports_nothing(package):
    entry = find_agent("own_agents.main:solve")
    before = code_digest(entry)
    assert len(before) == 64
    (package / "notes.txt").write_text("no code")
    assert code_digest(entry) == before
    (package / "deep" / "helper.py").write_text("")
    assert code_digest(entry) not in ("", before)


def test_the_digest_of_a_single_module_covers_its_file_alone(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_agent.py").write_text("one = 1\n")
    before = code_digest(find_agent("own_agent:solve"))
    (tmp_path / "other.py").write_text("")
    assert code_digest(find_agent("own_agent:solve")) == before
    (tmp_path / "own_agent.py").write_text("one = 2\n")
    assert code_digest(find_agent("own_agent:solve")) not in ("", before)


@pytest.mark.parametrize("name", ["tuner", "sys:exit", "no_such.module:agent"])
def test_shipped_agents_and_code_without_a_file_have_no_digest(name):
    assert code_digest(find_agent(name)) == ""


def test_a_name_for_an_agent_is_plain_text_that_no_other_agent_has():
    entry = find_agent("own_agent:solve")
    for good in (None, "ann", "Anns agent 2", "v1.2-b_c+d"):
        check_name(good, entry)
    check_name("tuner", find_agent("tuner"))
    for bad in ("", " a", "a:b", "a/b", "a[b]", "a\n", "-x", "a" * 61):
        with pytest.raises(UsageError, match="not a name for an agent"):
            check_name(bad, entry)
    with pytest.raises(UsageError, match="another agent's name"):
        check_name("tuner", entry)
