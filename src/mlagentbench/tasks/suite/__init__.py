"""The benchmark's own tasks, one folder each; no task knows another."""
