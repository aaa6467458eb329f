"""Who acts: one file per agent, one line each in the table that names them.

An agent is an async function of a context. It acts only through that context, which
is also its only source of time, randomness and budget.
"""
