"""Finding the original files of a table, or saying where they come from."""

from pathlib import Path

__all__ = ["find", "missing"]


def find(folder: str | Path, *names: str) -> Path | None:
    """The first of the names that exists in the folder."""
    paths = (Path(folder) / name for name in names)
    return next((path for path in paths if path.exists()), None)


def missing(folder: str | Path, wanted: str, home: str) -> FileNotFoundError:
    """The error to raise when none is there.

    Args:
        folder: Where the files were looked for.
        wanted: What was looked for, in words.
        home: Where a user obtains the originals, in words.

    Returns:
        An error that says all three.
    """
    place = Path(folder).absolute()
    state = "" if place.is_dir() else ", which is not a folder"
    return FileNotFoundError(f"Looked for {wanted} in {place}{state}. Obtain it from: {home}.")
