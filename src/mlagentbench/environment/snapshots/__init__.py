"""Snapshots of workspaces, stored by content.

Files are objects named by a digest of their contents. A snapshot is a manifest that
names objects. Nothing of a workspace is trusted or followed, neither when it is read
nor when it is written back. Start at `SnapshotStore` in `store.py`.
"""
