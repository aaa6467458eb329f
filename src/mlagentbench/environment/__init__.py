"""What an agent meets: its workspace, its sandbox and the actions it may take.

Everything that comes back out of a sandbox is hostile input, so every read of a
workspace goes through one opener and every path through one rule.
"""
