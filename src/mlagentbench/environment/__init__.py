"""The agent's environment: its workspace, its sandbox and its actions.

Everything that comes out of a sandbox is hostile input, so every read of a workspace
goes through `sandbox/safe_files.py` and every path of an action through `paths.py`.
"""
