"""Migrations: convert objects of older formats to the current one.

Formats 1 and 2 name a class by the place its code had when the file was written, such as
"secant.models.spectral.SpectralSecant"; since format 3 it is an id (see `vocabulary`).

To change a class without breaking older files:

- a field was renamed or removed: add `{"SecantRatio": function}` to `BEFORE_FORMAT_3`, where
  `function(parts) -> parts` maps the fields of an object by name to the current ones;
- a class was removed: add `{"OldScaling": function}` to `GONE_BEFORE_FORMAT_3`, where
  `function(parts)` returns its replacement, `Saved("Scaling", parts)`, or None;
- a class was renamed: `_RENAMED` in `vocabulary`, for files of any format.

Parts are rebuilt before the object that holds them: arrays and objects, not JSON. The one part of a
member of an enumeration is "member", its name. Both tables use current ids. A later format that
changes fields gets its own tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from secant.model_files.errors import ModelFileError, escaped
from secant.model_files.vocabulary import current_id

Parts = dict[str, Any]


class Saved(NamedTuple):
    """A saved object: the id of its class, and its fields by name."""

    id: str
    parts: Parts


BEFORE_FORMAT_3: dict[str, Callable[[Parts], Parts]] = {}
GONE_BEFORE_FORMAT_3: dict[str, Callable[[Parts], Saved | None]] = {}

# Frozen: of formats 1 and 2, where the last word of a name is not the id.
_PLACES = {
    "secant.models.networks.Linear": "LinearLayer",
    "secant.models.aligned._AlignedFunction": "AlignedFunction",
    "secant.models.joint._JointFunction": "JointFunction",
    "secant.models.networks._FourierNetwork": "FourierNetwork",
    "secant.models.networks._QuadraticNetwork": "QuadraticNetwork",
    "secant.models.networks._ResidualNetwork": "ResidualNetwork",
    "secant.models.spectral._SpectralFunction": "SpectralFunction",
    "secant.models.tangent._TangentFunction": "TangentFunction",
}


def id_in(version: int, name: str) -> str:
    """The current id for the name of a class in a file of a given format."""
    if version >= 3:
        return current_id(name)
    if not name.startswith("secant."):
        raise ModelFileError(f"it names {escaped(name)}, which is no class of models here.")
    return current_id(_PLACES.get(name, name.rpartition(".")[2]))


def migrated(version: int, saved: Saved) -> Saved | None:
    """An object of an older file in the current format; None if it was removed."""
    if version >= 3:
        return saved
    try:
        return _changed(saved)
    except Exception as error:  # an untrusted file may lack the fields that a migration reads
        raise ModelFileError(f"an older {saved.id} is not valid: {escaped(str(error))}.") from None


def _changed(saved: Saved) -> Saved | None:
    if saved.id in GONE_BEFORE_FORMAT_3:
        return GONE_BEFORE_FORMAT_3[saved.id](saved.parts)
    if saved.id in BEFORE_FORMAT_3:
        return saved._replace(parts=BEFORE_FORMAT_3[saved.id](saved.parts))
    return saved
