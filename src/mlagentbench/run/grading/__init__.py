"""Submitted code is run to be judged: in fresh sandboxes, on inputs, without labels.

Each hidden input is a turn in a sandbox of its own. What comes out, and how long it
took by our clock, becomes the answers that the task's pure grader judges; labels are
not known to anything here. A process of its own takes the turns, so that nothing else
the harness does at the same time lengthens a timed one.
"""
