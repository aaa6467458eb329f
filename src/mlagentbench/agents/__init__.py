"""Agents: async functions of a context, one file each, named in `catalogue`.

An agent acts only through its context, which is also its only source of time,
randomness and budget.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
