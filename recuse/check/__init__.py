"""`recuse check FILE`: the shipped questions asked of a file of ratings, and the answer in plain English.

`recuse.check` is this package and the function of the public face at once: importing any module of a package binds the
package's name in `recuse`, so the name has to be callable whoever came first.
"""

from __future__ import annotations

import sys
from types import ModuleType

from recuse.check.check_command import check


class _Check(ModuleType):
    __call__ = staticmethod(check)


sys.modules[__name__].__class__ = _Check
