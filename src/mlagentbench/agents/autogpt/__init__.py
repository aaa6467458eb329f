"""AutoGPT's loop on our actions."""
