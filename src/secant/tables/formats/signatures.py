"""What a file holds, by its first bytes: a wrong name is said before it confuses a reader."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from secant.tables.errors import TableError, shown

__all__ = ["Content", "check_content"]


class Content(Enum):
    """What first bytes stand for: in words, and what to do where something else was expected."""

    TEXT = "text", "If it is CSV or TSV, let its name end so."
    PARQUET = "Parquet", "Let its name end in .parquet."
    ARROW = "Arrow", "Let its name end in .arrow."
    NUMPY = "a NumPy array", "Let its name end in .npy."
    ZIP = "a zip archive", "NumPy's end in .npz; a spreadsheet must be saved as CSV."
    GZIP = "a gzip archive", "Unpack it first."
    OLD_FEATHER = "Feather of version 1", "Write it as version 2, or as Parquet."
    UTF_16 = "text in UTF-16", "Save it as UTF-8."

    def __init__(self, words: str, remedy: str) -> None:
        self.words = words
        self.remedy = remedy


_SIGNATURES = {
    b"PAR1": Content.PARQUET,
    b"ARROW1": Content.ARROW,
    b"\xff\xff\xff\xff": Content.ARROW,  # the streaming form has no name, but always this start
    b"\x93NUMPY": Content.NUMPY,
    b"PK\x03\x04": Content.ZIP,
    b"PK\x05\x06": Content.ZIP,  # without members
    b"\x1f\x8b": Content.GZIP,
    b"FEA1": Content.OLD_FEATHER,
    b"\xff\xfe": Content.UTF_16,
    b"\xfe\xff": Content.UTF_16,
}


def check_content(path: Path, expected: Content) -> None:
    """See that a file begins as its name says.

    Raises:
        TableError: If it is empty or begins otherwise.
    """
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise TableError(f"{shown(path)} is empty: it holds not even column names.")
    found = next((c for start, c in _SIGNATURES.items() if head.startswith(start)), Content.TEXT)
    if found is not expected:
        raise TableError(
            f"{shown(path)} should hold {expected.words} by its name, but holds {found.words}. "
            f"{found.remedy}"
        )
