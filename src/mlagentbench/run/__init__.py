"""The only folder that starts anything: runs, judges, experiments on disk.

It ties tasks, environment, agents and evaluation together along one straight line,
and it is the only one that speaks to Inspect's engine.
"""
