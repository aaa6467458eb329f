"""The processes that grade: they see labels, and nothing of an agent's runs in them."""
