"""Find the original files of a table, or say where to obtain them."""

from pathlib import Path

__all__ = ["find", "missing"]


def find(folder: str | Path, *names: str) -> Path | None:
    """The first of these files that exists in the folder."""
    paths = (Path(folder) / name for name in names)
    return next((path for path in paths if path.exists()), None)


def missing(folder: str | Path, wanted: str, home: str) -> FileNotFoundError:
    """The error for missing files.

    Args:
        folder: The folder that was searched.
        wanted: A description of the files.
        home: A description of their source.

    Returns:
        An error that names all three.
    """
    place = Path(folder).absolute()
    state = "" if place.is_dir() else ", which is not a folder"
    return FileNotFoundError(f"Looked for {wanted} in {place}{state}. Obtain it from: {home}.")
