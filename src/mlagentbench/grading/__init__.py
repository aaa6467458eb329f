"""A submission becomes a verdict, in processes that see labels or run its code.

A grader sees labels, and nothing of an agent's runs in it. Submitted code is run in
fresh sandboxes, on inputs, without labels: each hidden input is a turn in a sandbox of
its own. What comes out, and how long it took by our clock, becomes the answers that the
task's pure grader judges. A process of its own takes the turns, so that nothing else
the harness does at the same time lengthens a timed one.
"""
