"""Log folders of the original MLAgentBench become our records.

Everything in them was written by an agent, or by code it ran: nothing is evaluated,
no link is followed, and what cannot be read becomes a warning that names the file.
"""
