"""The actors of a study on Ray as plain objects, and what nodes are given."""

import asyncio
import io
import tarfile

import pytest

from mlagentbench.core.errors import UsageError
from mlagentbench.study.ray_executor import RayExecutor, provider_variables
from mlagentbench.study.ray_task import LimiterActor, ProgressActor, unpack_results


async def settled():
    """Let every task go on as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_limiter_grants_a_connection_when_another_is_released():
    async def use():
        limiter = LimiterActor({"openai": 2, "other": 1})
        await limiter.acquire("openai", "a")
        await limiter.acquire("openai", "b")
        third = asyncio.create_task(limiter.acquire("openai", "c"))
        await limiter.acquire("other", "d")
        await settled()
        assert not third.done()
        await limiter.release("openai", "a")
        await third

    asyncio.run(use())


def test_limiter_frees_connections_that_are_not_renewed():
    async def use():
        limiter = LimiterActor({"openai": 2}, expire=0.2)
        await limiter.acquire("openai", "lost")
        await limiter.acquire("openai", "alive")
        third = asyncio.create_task(limiter.acquire("openai", "third"))
        while not third.done():
            await limiter.renew("openai", ["alive"])
            await asyncio.sleep(0.01)
        fourth = asyncio.create_task(limiter.acquire("openai", "fourth"))
        await settled()
        assert not fourth.done()
        fourth.cancel()

    asyncio.run(use())


def test_new_limiter_counts_connections_that_an_earlier_one_granted():
    async def use():
        limiter = LimiterActor({"openai": 1}, wait=0.1)
        second = asyncio.create_task(limiter.acquire("openai", "second"))
        await limiter.renew("openai", ["first"])
        await asyncio.sleep(0.3)
        assert not second.done()
        await limiter.release("openai", "first")
        await second

    asyncio.run(use())


def test_progress_waits_for_news_and_tells_who_is_cancelled():
    async def use():
        progress = ProgressActor()
        news = asyncio.create_task(progress.news())
        await settled()
        assert not news.done()
        await progress.report("{}")
        lease = asyncio.create_task(progress.ask_lease("token"))
        assert await news == [("event", "{}")]
        assert await progress.news() == [("lease", "token")]
        await progress.answer_lease("token", "held")
        assert await lease == "held"

        ended, stopped = (
            asyncio.create_task(progress.until_cancelled(name)) for name in "ab"
        )
        await settled()
        await progress.end("a")
        await progress.cancel(["b"])
        assert (await ended, await stopped) == (False, True)
        assert await progress.is_cancelled("b")
        assert not await progress.is_cancelled("a")

    asyncio.run(use())


def test_nodes_get_keys_of_providers_and_no_paths():
    environment = {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "u",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_CA_BUNDLE": "/etc/x",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/x",
        "GITHUB_TOKEN": "t",
        "MLAB_CACHE": "/c",
        "PATH": "/bin",
    }
    assert provider_variables(environment) == {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "u",
        "AWS_SECRET_ACCESS_KEY": "s",
    }


def test_results_with_a_name_outside_the_folder_are_refused(tmp_path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        files.addfile(tarfile.TarInfo("../escaped"))
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack_results(packed.getvalue(), tmp_path / "folder")
    assert not (tmp_path / "escaped").exists()


def test_the_address_of_a_ray_client_is_refused():
    with pytest.raises(UsageError, match="run the study on a node of the cluster"):
        RayExecutor("ray://10.0.0.1:10001")
