"""A real model behind Inspect's interface."""

import asyncio
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
from inspect_ai.util import json_schema
from pydantic import BaseModel

from mlagentbench.core.errors import UsageError
from mlagentbench.run.models.local import LocalModel

SMALL = "local/smollm2-135m"
GREEDY = GenerateConfig(max_tokens=16, temperature=0, seed=1)


class Choice(BaseModel):
    action: str
    number: int


@pytest.fixture(scope="module")
def talk(weights):
    """Hold conversations with one model, whose server is started once."""
    model = get_model(SMALL, memoize=False, threads=1)
    with asyncio.Runner() as runner:
        yield lambda conversation: runner.run(conversation(model))
        runner.run(model.api.aclose())


def ask(prompt, **config):
    wanted = GREEDY.model_copy(update=config)
    return lambda model: model.generate(prompt, config=wanted)


def test_local_model_keeps_the_token_limit_and_reports_usage(talk, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    answer = talk(ask("Tell me a long story."))
    assert answer.completion
    assert answer.stop_reason == "max_tokens"
    assert answer.usage.output_tokens == 16
    assert answer.usage.input_tokens > 5


def test_local_model_follows_a_schema(talk):
    schema = ResponseSchema(name="choice", json_schema=json_schema(Choice))
    answer = talk(ask("What next?", response_schema=schema, max_tokens=200))
    assert isinstance(Choice.model_validate_json(answer.completion).number, int)


def test_stop_sequence_ends_a_reply(talk):
    prompt = "Repeat exactly: one, two, three"
    whole = talk(ask(prompt)).completion
    word = whole.split()[1]
    cut = talk(ask(prompt, stop_seqs=[word]))
    assert cut.stop_reason == "stop"
    assert cut.completion == whole[: whole.index(word)]


def test_same_seed_gives_the_same_reply(talk):
    async def thrice(model):
        warm = {"temperature": 1.5, "max_tokens": 24}
        return [
            (await ask("A story:", seed=seed, **warm)(model)).completion
            for seed in (3, 3, 4)
        ]

    first, again, other = talk(thrice)
    assert first == again != other


def test_prompt_over_the_context_size_stops_with_model_length(talk):
    assert talk(ask("word " * 9000)).stop_reason == "model_length"


def test_lost_server_is_restarted(talk):
    pids = []

    async def lose(model):
        await ask("Hello")(model)
        pids.append(model.api._server.pid)
        os.kill(pids[0], signal.SIGKILL)
        while model.api._server.alive:
            await asyncio.sleep(0.01)
        answer = await ask("Hello")(model)
        pids.append(model.api._server.pid)
        return answer

    assert talk(lose).completion
    assert len({*pids}) == 2
    assert not Path(f"/proc/{pids[0]}").exists()


def test_closed_server_restarts_with_the_next_request(talk):
    async def close(model):
        await ask("Hello")(model)
        pid = model.api._server.pid
        assert model.api.max_connections() == 1
        await model.api.aclose()
        stopped = not Path(f"/proc/{pid}").exists()
        return stopped, (await ask("Hello")(model)).completion

    stopped, answer = talk(close)
    assert stopped
    assert answer


def test_unknown_local_model_is_refused_at_once(mlab, tmp_path):
    with pytest.raises(UsageError, match=r"did you mean smollm2-135m"):
        LocalModel("smollm2-136m")
    said = mlab("run", "house-price", "--model", "local/smollm")
    assert said.code == 2, said.err
    assert "unknown local model 'smollm'; did you mean smollm2-135m" in said.err
    assert not (tmp_path / "runs").exists()


def test_missing_package_is_refused_with_its_command(mlab, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    said = mlab("run", "house-price", "--model", "local")
    assert said.code == 2, said.err
    sentence = said.err.strip().splitlines()[-1]
    assert sentence.startswith("mlab: the local model needs xllamacpp: run `")
    python, *words = shlex.split(sentence.split("`")[1])
    # The command works from any folder: both files are named by their paths.
    assert Path(python).samefile(sys.executable)
    *install, constraints, editable, package = words
    assert (install, editable) == (["-m", "pip", "install", "-c"], "-e")
    assert Path(constraints).is_file()
    clone, _, extra = package.partition("[")
    assert extra == "local]"
    assert "\nlocal = [\n" in (Path(clone) / "pyproject.toml").read_text()
    assert not (tmp_path / "runs").exists()
    assert f"xllamacpp is not installed; run `{python}" in mlab("doctor").out


@pytest.mark.slow
def test_endless_reply_is_truncated(talk):
    counting = "Count from 1 to 100000, one number per line:\n1\n2\n3\n4\n"
    answer = talk(ask(counting, max_tokens=7000, logit_bias={2: -100, 0: -100}))
    assert (answer.stop_reason, answer.usage.output_tokens) == ("max_tokens", 1500)
