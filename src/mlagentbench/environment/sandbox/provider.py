"""The sandbox as Inspect knows it: provider `bwrap`."""

import errno
import shlex
from pathlib import Path
from typing import Any, Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from mlagentbench.core.limits import Limits
from mlagentbench.core.record import Record
from mlagentbench.environment.sandbox.box import Box, Execution, Furnishing, open_box
