"""Agents: async functions of a context, one file each, named in `catalogue`.

An agent acts only through its context, which is also its only source of time,
randomness and budget.
"""
