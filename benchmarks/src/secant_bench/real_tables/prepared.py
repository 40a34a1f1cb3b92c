"""Prepared tables on disk: one file per split, and a manifest to check them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from secant._host.atomic_files import write_atomically
from secant.tables.files import TableError, read_batches, write_table
from secant_bench.real_tables.table import RealTable

__all__ = ["MANIFEST", "Manifest", "SplitFile", "check_prepared", "read_manifest", "write_prepared"]

MANIFEST = "table.json"
_SPLITS = ("train", "validation", "test")
_NAMELESS = (".npy", ".npz")  # arrays, whose columns have no names


@dataclass(frozen=True)
class SplitFile:
    """One file of a prepared table.

    Attributes:
        file: its name within the folder.
        rows: number of rows.
        sha256: of its bytes.
    """

    file: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """A prepared table, as described by its manifest.

    Attributes:
        name: of the table.
        note: how the rows were prepared.
        columns: their names.
        splits: by name, in the order train, validation, test.
    """

    name: str
    note: str
    columns: tuple[str, ...]
    splits: dict[str, SplitFile]


def write_prepared(folder: Path, table: RealTable, suffix: str) -> Manifest:
    """Write the splits in the format of the suffix, then the manifest.

    The manifest is written last: a folder without one is unfinished.
    """
    folder.mkdir(parents=True, exist_ok=True)
    splits = {}
    for name in _SPLITS:
        rows, path = getattr(table, name), folder / f"{name}{suffix}"
        write_table(path, pa.table(dict(zip(table.columns, rows.T, strict=True))))
        splits[name] = SplitFile(path.name, len(rows), _sha256(path))
    prepared = Manifest(table.name, table.note, table.columns, splits)
    text = json.dumps({"format": 1, **asdict(prepared)}, indent=2, ensure_ascii=False)
    write_atomically(folder / MANIFEST, f"{text}\n".encode())
    return prepared


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        splits = {name: SplitFile(**found["splits"][name]) for name in _SPLITS}
        return Manifest(found["name"], found["note"], tuple(found["columns"]), splits)
    except FileNotFoundError as error:
        raise TableError(
            f"{folder} has no {MANIFEST}, so it has no prepared table or an unfinished one; "
            "prepare it with `secant data prepare`."
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TableError(
            f"{path} is not a manifest of `secant data prepare`; prepare the table again."
        ) from error


def check_prepared(folder: Path) -> tuple[Manifest, list[str]]:
    """The manifest of a folder, and all differences between it and the files."""
    prepared = read_manifest(folder)
    problems = []
    for split in prepared.splits.values():
        problems += [f"{split.file}: {p}" for p in _problems(folder, split, prepared.columns)]
    return prepared, problems


def _problems(folder: Path, split: SplitFile, columns: Sequence[str]) -> Iterator[str]:
    path = folder / split.file
    if path.name != split.file or not path.is_file():
        yield "the file is missing"
        return
    if _sha256(path) != split.sha256:
        yield "the checksum differs: the file was changed or damaged"
    try:
        yield from _content_problems(path, split, columns)
    except (TableError, pa.ArrowException) as error:
        yield f"the file cannot be read: {error}"


def _content_problems(path: Path, split: SplitFile, columns: Sequence[str]) -> Iterator[str]:
    expected = list(columns)
    if path.suffix in _NAMELESS:
        expected = [str(number) for number in range(len(columns))]
    rows = odd = 0
    for batch in read_batches(path):
        if batch.column_names != expected:
            yield f"the columns must be {_few(expected)}; got {_few(batch.column_names)}"
            return
        rows += batch.num_rows
        odd += sum(int((~np.isfinite(c.to_numpy())).sum()) for c in batch.columns)
    if rows != split.rows:
        yield f"there must be {split.rows:,} rows; got {rows:,}"
    if odd:
        yield f"{odd:,} values are missing or infinite"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f", … ({len(names)})" if len(names) > 5 else "")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
