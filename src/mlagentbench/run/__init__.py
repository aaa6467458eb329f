"""Runs through Inspect: the only folder that starts anything.

It combines tasks, environment, agents, grading and evaluation, and it alone calls
Inspect's engine.
"""

import sys
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _CallableModule(ModuleType):
    """A module that `ml.run(...)` can call.

    Importing this folder binds it to the name `run` of the package, in place of the
    function.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        return self.run(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
