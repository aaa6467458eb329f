"""The agent's environment: its workspace, its sandbox and its actions.

Everything that comes out of a sandbox is hostile input, so every read of a workspace
goes through `sandbox/safe_files.py` and every path of an action through `paths.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
