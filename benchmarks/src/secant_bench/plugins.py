"""Objects of third parties, by the name they are imported by."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

__all__ = ["imported", "is_import_name"]


def is_import_name(name: str) -> bool:
    """Whether it has the form `package.module:Name`."""
    return ":" in name


def imported(name: str) -> object:
    """The object named `package.module:Name`; modules of the working folder are found, too.

    Raises:
        ValueError: there is no such module, or nothing of that name in it.
    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # a console script does not look there by itself
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(f"cannot import {module!r} for {name!r}: {error}.") from error
    except AttributeError:
        raise ValueError(f"the module {module!r} has no {attribute!r}.") from None
