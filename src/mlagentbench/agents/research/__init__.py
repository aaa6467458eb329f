"""The research agent: with today's means, or as the paper had it."""
