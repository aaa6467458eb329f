"""Inspect's own conformance checks, on our provider."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from mlagentbench.environment.inspect_provider import BwrapConfig, BwrapSandbox
from mlagentbench.environment.sandbox.sandbox import SandboxSpec
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio

CANNOT_APPLY = {
    "test_exec_as_user": "a sandbox has one user, and nobody in it can add another",
}


@pytest.fixture
async def sandbox_env(
    request: pytest.FixtureRequest, sandboxes: Path, agent_env: Path
) -> AsyncIterator[BwrapSandbox]:
    if reason := CANNOT_APPLY.get(request.node.originalname):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    spec = SandboxSpec(agent_env=agent_env)
    config = BwrapConfig(sandboxes=sandboxes, spec=spec, limits=Limits())
    opened = await BwrapSandbox.sample_init("check", config, {})
    yield opened["default"]
    await BwrapSandbox.sample_cleanup("check", config, opened, interrupted=False)
