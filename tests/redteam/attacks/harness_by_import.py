"""Import the harness, or find it among the installed distributions."""

import importlib.metadata
import importlib.util
import os
import sys

from evidence import HINTS, failed, succeeded

sys.path += [os.path.dirname(HINTS["package"]), *HINTS["harness"]]
for prefix in {sys.base_prefix, "/usr", "/usr/local"}:
    for folder in ("site-packages", "dist-packages"):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        sys.path.append(f"{prefix}/lib/{version}/{folder}")
found = [
    name
    for name in ("mlagentbench", "inspect_ai")
    if importlib.util.find_spec(name) is not None
]
found += [
    distribution.name
    for distribution in importlib.metadata.distributions()
    if distribution.name == "mlagentbench"
]
if found:
    succeeded(f"importable: {', '.join(found)}")
else:
    failed(f"not importable from any of {len(sys.path)} folders")
