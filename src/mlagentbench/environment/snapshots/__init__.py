"""Snapshots: what a workspace held after each step, stored once by its contents.

Files are objects named by the sha256 of what is in them; a snapshot is a manifest that
names them. Nothing of a workspace is trusted or followed, neither when it is read nor
when it is written back. The way in is `SnapshotStore` in `store.py`.
"""
