"""Frozen records that every folder uses: task, step, trace, ending, scorecard.

Nothing here starts a process or knows which tasks and agents exist. The error tree,
locks, atomic writes and the cleaning of hostile text are here too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
