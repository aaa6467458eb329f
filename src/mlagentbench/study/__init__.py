"""Studies: many runs as cells, on one machine, on Ray or on Slurm."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
