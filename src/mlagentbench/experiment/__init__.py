"""Experiments on disk: spec, traces, scorecards and votes.

Nothing here loads the engine, so that reports and commands read experiments fast.
"""
