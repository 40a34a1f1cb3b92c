"""Score a folder of tables: one task per file, in this process or on a Dask cluster."""

from __future__ import annotations

import glob
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path

from secant._host.atomic_files import write_atomically
from secant._host.clusters import Cluster, cluster_named, has_dask
from secant.deploy.scoring.scorer import Scored, Scorer, score_table
from secant.tables.errors import TableError, quoted, shown
from secant.tables.formats import FORMATS

Report = Callable[[int, int], None]  # called with the numbers of finished and of all files


@dataclass(frozen=True)
class FolderScored:
    """The result of scoring a folder.

    Attributes:
        total: over all scored files.
        files: number of files.
        skipped: number of files that had been scored before.
        failures: errors by file name.
    """

    total: Scored
    files: int
    skipped: int
    failures: Mapping[str, str]


def is_many(data: str | Path) -> bool:
    """Whether the path is a folder or a pattern, and not one table."""
    path = Path(data)
    return path.is_dir() or (not path.exists() and glob.has_magic(str(path)))


def table_files(data: str | Path) -> list[Path]:
    """The tables of a folder, or those that match a pattern such as `data/2024-*.parquet`.

    Raises:
        TableError: If there are none, or two of one name.
    """
    path = Path(data)
    found = path.iterdir() if path.is_dir() else map(Path, glob.glob(str(path), recursive=True))
    files = sorted(f for f in found if f.suffix.lower() in FORMATS and f.name[0] != ".")
    if not files:
        raise TableError(f"{shown(path)} holds no table; a table ends in {', '.join(FORMATS)}.")
    twice = [name for name, count in Counter(f.name for f in files).items() if count > 1]
    if twice:
        raise TableError(
            f"{shown(path)} matches several files named {quoted(twice)}; outputs have the names of "
            "their tables. Score one folder at a time."
        )
    return files


def score_folder(
    model: str | Path,
    data: str | Path,
    output: str | Path,
    *,
    keep: Sequence[str] | None = None,
    name: str | None = None,
    batch_rows: int = 65_536,
    seed: int = 0,
    scheduler: str | None = "local",
    report: Report | None = None,
) -> FolderScored:
    """Score all tables of a folder by a model file, into files of the same names in another.

    Outputs are written atomically. A later run scores only files that are new, have changed, or
    were scored by another model. Scores are those of `score_table`, and do not depend on the other
    files or on the worker.

    Args:
        model: the model file.
        data: a folder, or a pattern such as `data/2024-*.parquet`.
        output: the folder to write, created if necessary.
        keep: names or globs of columns to write beside the scores; None for all.
        name: of the new column; None is "log_ratio" or "log_density".
        batch_rows: rows of a file in memory at once.
        seed: of the noise on categories, the same for every file.
        scheduler: "local", sequentially in this process; "dask", one worker process per core; or
            the address of a Dask cluster that sees the same files, `tcp://host:8786`. None is
            "dask" where it is installed and there are several files to score.
        report: called with the numbers of finished and of all files.

    Returns:
        The results over all files, and the errors of those that failed.

    Raises:
        ModelFileError: If the model cannot be read.
        TableError: If there are no tables, or `output` is where they are.
        ValueError: If there is no such scheduler, or Dask is not installed.
    """
    from secant import __version__

    model, folder = Path(model).resolve(), Path(output).resolve()
    cluster = None if scheduler is None else cluster_named(scheduler)
    column = name or Scorer.loaded(model).quantity  # also checks that it is a model
    tasks = [FileTask(file.resolve(), folder / file.name) for file in table_files(data)]
    _make(folder, tasks)
    kept = None if keep is None else tuple(keep)
    settings = ScoringSettings(model, digest_of(model), __version__, kept, name, seed, batch_rows)
    found: dict[FileTask, Scored | Exception] = {
        task: done for task in tasks if (done := task.done(settings)) is not None
    }
    waiting = [task for task in tasks if task not in found]
    skipped = len(found)
    if scheduler is None and len(waiting) > 1 and has_dask():
        cluster = Cluster()
    for task, result in _results(settings, waiting, cluster):
        found[task] = result
        if report is not None:
            report(len(found), len(tasks))
    return _joined(column, tasks, found, skipped)


def _make(folder: Path, tasks: Sequence[FileTask]) -> None:
    if any(task.data.parent == folder for task in tasks):
        raise TableError(
            f"{shown(folder)} is the folder of the tables; name another one for the outputs."
        )
    if folder.exists() and not folder.is_dir():
        raise TableError(f"{shown(folder)} must be a folder for the scored tables, but is a file.")
    folder.mkdir(parents=True, exist_ok=True)


def _results(
    settings: ScoringSettings, tasks: Sequence[FileTask], cluster: Cluster | None
) -> Iterator[tuple[FileTask, Scored | Exception]]:
    if cluster is not None and tasks:  # without tasks, do not start workers
        yield from cluster.done(partial(_scored, settings), tasks)
        return
    for task in tasks:
        try:
            yield task, _scored(settings, task)
        except Exception as error:  # score the other files
            yield task, error


def _scored(settings: ScoringSettings, task: FileTask) -> Scored:
    """Score one file, in any process."""
    stamp = stamp_of(task.data)  # before reading, to detect a change meanwhile
    found = score_table(
        _scorer(settings.model, settings.digest),
        task.data,
        task.output,
        keep=settings.keep,
        name=settings.name,
        batch_rows=settings.batch_rows,
        seed=settings.seed,
    )
    task.keep_record(settings, stamp, found)
    return found


@lru_cache(maxsize=1)  # a worker scores many files by one model
def _scorer(model: Path, digest: str) -> Scorer:
    if digest_of(model) != digest:
        raise TableError(f"{shown(model)} changed while it was in use; run the command again.")
    return Scorer.loaded(model)


def _joined(
    column: str,
    tasks: Sequence[FileTask],
    found: Mapping[FileTask, Scored | Exception],
    skipped: int,
) -> FolderScored:
    """Sum in the order of the files, so that rounding does not depend on timing."""
    total, failures = Scored(column), {}
    for task in tasks:
        result = found[task]
        if isinstance(result, Scored):
            total = total.joined(result)
        else:
            failures[task.data.name] = str(result) or type(result).__name__
    return FolderScored(total, len(tasks), skipped, failures)


Stamp = list[int]

_FOLDER = ".secant"


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class ScoringSettings:
    """The model and settings on which the scores of a table depend.

    Attributes:
        model: the model file.
        digest: of its content.
        version: of secant.
        keep: columns to write beside the scores; None for all.
        name: of the new column; None is the model's quantity.
        seed: of the noise on categories.
        batch_rows: rows in memory at once.
    """

    model: Path
    digest: str
    version: str
    keep: tuple[str, ...] | None
    name: str | None
    seed: int
    batch_rows: int

    def to_json(self) -> dict[str, object]:
        """The settings stored in a record, without the model's path and `batch_rows`."""
        fields = asdict(self)
        keep = None if self.keep is None else list(self.keep)
        return {**{k: fields[k] for k in ("digest", "version", "name", "seed")}, "keep": keep}


@dataclass(frozen=True)
class FileTask:
    """A table to be scored.

    Attributes:
        data: the table.
        output: the table to write.
    """

    data: Path
    output: Path

    @property
    def _record(self) -> Path:
        return self.output.parent / _FOLDER / f"{self.output.name}.json"

    def done(self, settings: ScoringSettings) -> Scored | None:
        """The recorded result, if nothing has changed since."""
        try:
            found = json.loads(self._record.read_bytes())
            if found["of"] != self._state(settings, stamp_of(self.data)):
                return None
            return Scored(**{k: v for k, v in found["scored"].items() if v is not None})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # no valid record: score the table again

    def keep_record(self, settings: ScoringSettings, stamp: Stamp, scored: Scored) -> None:
        """Write the record.

        Args:
            settings: of the scoring.
            stamp: of the input file when it was read.
            scored: the result.
        """
        self._record.parent.mkdir(exist_ok=True)
        numbers = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(scored).items()
        }
        record = {"of": self._state(settings, stamp), "scored": numbers}
        write_atomically(self._record, json.dumps(record).encode())

    def _state(self, settings: ScoringSettings, stamp: Stamp) -> dict[str, object]:
        return {**settings.to_json(), "data": stamp, "output": stamp_of(self.output)}


def stamp_of(path: Path) -> Stamp:
    """Size and modification time of a file."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]
