"""Experiments on disk: spec, traces, scorecards and votes.

Nothing here loads the engine, so that reports and commands read experiments fast.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
