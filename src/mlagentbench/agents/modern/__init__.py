"""The research agent with today's means."""
