"""mlagentbench: a benchmark for AI agents that do machine-learning research.

    import mlagentbench as ml

Names are imported when they are first used. The engine is loaded only by functions
that start runs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
