"""The nouns, frozen: what a task, a step, a trace, an ending and a scorecard are.

Every other folder is written in these words. Nothing here starts a process or knows
which tasks and agents exist; the error tree, the one helper that says whose fault a
failure is, and the one way to write a file whole live here too.
"""
