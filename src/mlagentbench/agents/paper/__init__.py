"""The paper's own agents: one loop, and what each of them makes of it."""
