"""The package's public face."""

import subprocess
import sys

import mlagentbench


def test_every_public_name_exists():
    assert all(hasattr(mlagentbench, name) for name in mlagentbench.__all__)


def test_importing_the_package_does_not_load_the_engine():
    code = "import sys, mlagentbench; sys.exit('inspect_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
