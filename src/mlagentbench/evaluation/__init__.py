"""A trace and a score become a scorecard: pure functions, no files, no clocks.

Competence (how good is what was submitted), process (how soundly was it reached) and
efficiency (what did it cost) are each computed here and nowhere else.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
