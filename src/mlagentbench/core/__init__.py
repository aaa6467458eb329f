"""Frozen records that every folder uses: task, step, trace, ending, scorecard.

Nothing here starts a process or knows which tasks and agents exist. The error tree,
locks, atomic writes and the cleaning of hostile text are here too.
"""
