"""Reply protocols: one file for each way in which a model requests an action."""
