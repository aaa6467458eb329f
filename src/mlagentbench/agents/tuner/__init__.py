"""The agent without a language model that tunes the starter's numbers."""
