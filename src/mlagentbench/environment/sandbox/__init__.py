"""The room itself: bubblewrap, resource limits, and the safe way to look inside."""
