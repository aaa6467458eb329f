"""The string that marks task folders, so that training corpora can leave them out."""

CANARY = "mlagentbench canary 7d0c8e9a-51b4-4f0e-9a53-2f6e1d8b40c7"
"""Stands in every task's README.md and task.toml, and nowhere an agent looks."""
