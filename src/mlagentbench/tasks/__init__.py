"""Task folders: loading them, preparing their data, checking them.

A task is one folder under `suite/`; adding one edits nothing else. This folder
reads such folders, fetches what they need by package name, splits the prepared data
into `public/` (what an agent may see) and `private/` (what it never does), and checks
that tasks are valid. It runs no agent and imports no sandbox.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
