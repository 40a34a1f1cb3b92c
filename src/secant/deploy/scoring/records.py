"""Records of scored files, by which a later run skips what is done.

A record holds the model's digest, the settings, and size and time of the input and output files. If
any of them has changed, the file is scored again.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from secant._host.atomic_files import write_atomically
from secant.deploy.scoring.scorer import Scored

__all__ = ["FileTask", "Settings", "Stamp", "digest_of", "stamp_of"]

Stamp = list[int]

_FOLDER = ".secant"


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Settings:
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

    def done(self, settings: Settings) -> Scored | None:
        """The recorded result, if nothing has changed since."""
        try:
            found = json.loads(self._record.read_bytes())
            if found["of"] != self._state(settings, stamp_of(self.data)):
                return None
            return Scored(**{k: v for k, v in found["scored"].items() if v is not None})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # no valid record: score the table again

    def keep_record(self, settings: Settings, stamp: Stamp, scored: Scored) -> None:
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

    def _state(self, settings: Settings, stamp: Stamp) -> dict[str, object]:
        return {**settings.to_json(), "data": stamp, "output": stamp_of(self.output)}


def stamp_of(path: Path) -> Stamp:
    """Size and modification time of a file."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]
