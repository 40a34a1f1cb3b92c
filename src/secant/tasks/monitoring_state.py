"""The state of a watch in one JSON file, so that it continues where it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from secant._host.atomic_files import write_atomically
from secant.model_files.errors import ModelFileError
from secant.model_files.strict_json import parsed_json, written
from secant.tables.errors import shown
from secant.tasks.monitored_window import WindowRecord
from secant.tasks.monitoring_result import ReferenceBand

__all__ = ["MonitorState"]

_FORMAT = "secant/monitor-state/1"


@dataclass
class MonitorState:
    """What is known already.

    Attributes:
        path: of the file; None keeps none.
        digest: of the reference and the settings, without which nothing of a file counts.
        band: of the reference; None until it is known.
        windows: those that are finished.
    """

    path: Path | None
    digest: str
    band: ReferenceBand | None = None
    windows: list[WindowRecord] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path | str | None, digest: str) -> MonitorState:
        """From a file, if there is one.

        Raises:
            ValueError: The file is damaged, or of another reference or other settings.
        """
        place = None if path is None else Path(path)
        if place is None or not place.exists():
            return cls(place, digest)
        try:
            values = parsed_json(place.read_bytes())
            if values["format"] != _FORMAT:
                raise ValueError(f"its format is {shown(values['format'])}")
            kept = str(values["digest"])
            band = None if values["band"] is None else _band(values["band"])
            windows = [WindowRecord.from_json(window) for window in values["windows"]]
        except (ModelFileError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{place} is no state of a watch that can be continued: {error}. Name another "
                "file, or move this one away to start again."
            ) from None
        if kept != digest:
            raise ValueError(
                f"{place} was made with another reference or other settings (time, every, columns, "
                "missing, estimator, permutations, confidence or seed). Use those, or name another "
                "file to start again."
            )
        return cls(place, digest, band, windows)

    def check(self, labels: Sequence[str], digests: Sequence[str]) -> None:
        """Refuse a stream whose finished windows are not those of the file."""
        known = [(w.label, w.digest) for w in self.windows]
        for number, (label, digest) in enumerate(known):
            if number >= len(labels) or (labels[number], digests[number]) != (label, digest):
                came = shown(labels[number]) if number < len(labels) else "nothing"
                raise ValueError(
                    f"The rows of window {shown(label)} are not those that {self.path} has seen "
                    f"(now: {came}): give the whole stream, new rows added to the earlier ones. If "
                    "rows came late or were corrected, name another state file to start again."
                )

    def save(self) -> None:
        """Write the file atomically."""
        if self.path is None:
            return
        band = None if self.band is None else asdict(self.band)
        if band is not None:
            band = {name: _number(value) for name, value in band.items()}
        values = {
            "format": _FORMAT,
            "digest": self.digest,
            "band": band,
            "windows": [window.to_json() for window in self.windows],
        }
        write_atomically(self.path, written(values).encode("ascii"))


def _band(values: dict[str, object]) -> ReferenceBand:
    numbers = {name: float(str(values[name])) for name in ("overlap", "kl")}
    return ReferenceBand(**{**values, **numbers})  # type: ignore[arg-type]


def _number(value: object) -> object:
    """NaN, which JSON lacks, as text."""
    return str(value) if value != value else value
