"""Sandboxes: bubblewrap, resource limits, and safe access to their files."""
