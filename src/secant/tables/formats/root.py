"""ROOT files: a tree with one number, text or flag in each branch and row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from secant.tables.errors import TableError, counted, quoted, shown
from secant.tables.formats.base import Content, Sink, TableFormat, check_columns, rebatched

_TREES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple")
_WRITTEN = "tree"  # name of a tree that is written


class Root(TableFormat):
    """The branches of the only tree of a file, by uproot (extra `root`)."""

    name = "ROOT"
    content = Content.ROOT

    def names(self, path: Path) -> list[str]:
        """The branches."""
        with _tree(path) as tree:
            names = [str(name) for name in tree.keys(recursive=False)]
        check_columns(len(names))
        return names

    def batches(
        self, path: Path, columns: Sequence[str], *, rows: int, text: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Tables of at most `rows` rows, in turn."""
        return rebatched(_read(path, list(columns), rows), rows)

    def sink(self, path: Path, schema: pa.Schema) -> Sink:
        """A new file with one tree, of columns of numbers and flags."""
        return _RootSink(path, schema)


class _RootSink(Sink):
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        kinds = {field.name: _dtype(field) for field in schema}
        self._file = _uproot().recreate(path)
        self._tree = self._file.mktree(_WRITTEN, kinds)

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        columns = zip(table.column_names, table.columns, strict=True)
        for name, column in columns:
            if column.null_count:
                raise TableError(
                    f"Column {shown(name)} has missing values, which ROOT cannot hold. Try a "
                    ".parquet."
                )
        self._tree.extend({name: table[name].to_numpy() for name in table.column_names})

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def _dtype(field: pa.Field) -> np.dtype[Any]:
    kind = field.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise TableError(
            f"Column {shown(field.name)} holds {kind}; trees of ROOT are written from numbers and "
            "flags only. Leave it out, or try a .parquet."
        )
    return np.dtype(kind.to_pandas_dtype())


def _uproot() -> Any:  # noqa: ANN401, an optional package without types
    try:
        import uproot
    except ImportError as error:
        raise ImportError('ROOT files need uproot: pip install "secant[root]".') from error
    return uproot


@contextmanager
def _tree(path: Path) -> Iterator[Any]:
    """The only tree of a file."""
    with _uproot().open(path) as file:
        kinds = file.classnames(cycle=False)
        trees = [name for name, kind in kinds.items() if kind in _TREES]
        if len(trees) != 1:
            held = (
                f"It holds {counted(len(trees), 'tree')}, {quoted(trees)}" if trees else "No tree"
            )
            raise TableError(
                f"{held}; expected one tree in the file. Write the tree you need to a file of its "
                "own."
            )
        yield file[trees[0]]


def _read(path: Path, columns: list[str], rows: int) -> Iterator[pa.Table]:
    with _tree(path) as tree:
        _check_flat(tree, columns)
        for start in range(0, max(tree.num_entries, 1), rows):
            found = tree.arrays(columns, library="np", entry_start=start, entry_stop=start + rows)
            yield pa.table({name: pa.array(_plain(found[name])) for name in columns})


def _check_flat(tree: Any, columns: Sequence[str]) -> None:  # noqa: ANN401, a tree of uproot
    """Refuse branches with lists or structures, by their first row."""
    head = tree.arrays(columns, library="np", entry_stop=1)
    bad = [name for name in columns if _is_nested(head[name])]
    if bad:
        raise TableError(
            f"Branches with several values a row: {quoted(bad)}. Choose the others "
            f"({shown('!' + bad[0])} among the columns), or write one number a row."
        )


def _is_nested(values: np.ndarray) -> bool:
    if values.dtype.kind == "O":
        return any(not isinstance(value, str) for value in values)
    return values.ndim != 1 or values.dtype.kind == "V"


def _plain(values: np.ndarray) -> Any:  # noqa: ANN401, what pyarrow takes
    if values.dtype.kind in "OU":
        return [str(value) for value in values]
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
