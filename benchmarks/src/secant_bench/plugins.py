"""Objects of other packages, by import path."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

__all__ = ["imported", "is_import_name"]


def is_import_name(name: str) -> bool:
    """Whether a text has the form `package.module:Name`."""
    return ":" in name


def imported(name: str) -> object:
    """The object named `package.module:Name`, also from modules in the working folder.

    Raises:
        ValueError: there is no such module, or it has no such name.
    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # the working folder is not on the path of a console script
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(f"cannot import {module!r} for {name!r}: {error}.") from error
    except AttributeError:
        raise ValueError(f"the module {module!r} has no {attribute!r}.") from None
