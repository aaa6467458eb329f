"""Models of our own for Inspect: replies from a script, or from an earlier run."""
