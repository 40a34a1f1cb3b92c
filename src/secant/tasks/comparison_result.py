"""What a comparison of two samples has found, and how it reads."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from secant._host.escaping import one_line
from secant._host.notebook import fragment
from secant.diagnostics import CalibrationCurve
from secant.tasks.attribution import FeatureContribution
from secant.tasks.divergence_result import Divergence
from secant.tasks.drift_report import DriftReport, feature_lines, feature_pairs
from secant.tasks.fit_record import FitRecord
from secant.tasks.path_picture import PathPicture

__all__ = ["Comparison", "Degree", "UnlikeRows"]

_LEVEL = 0.05
_MILD = 0.8  # share in common of two unit normals half a standard deviation apart
_APART = 0.1  # the same of two that are 3.3 apart


class Degree(enum.Enum):
    """How far two samples differ; the value is what a reader is told.

    SAME: the p-value is at least 0.05. Of the others, MILD has a share in common of 0.8 and more,
    APART of less than 0.1, and STRONG what lies between.
    """

    SAME = "No difference was found"
    MILD = "The samples differ mildly"
    STRONG = "The samples differ strongly"
    APART = "The samples hardly overlap"

    @classmethod
    def of(cls, p_value: float, overlap: float) -> Degree:
        """From the test and the share in common."""
        if not p_value < _LEVEL:
            return cls.SAME
        if overlap >= _MILD:
            return cls.MILD
        return cls.STRONG if overlap >= _APART else cls.APART


@dataclass(frozen=True, eq=False)
class UnlikeRows:
    """The rows of one sample that are least like the other, the first least.

    Attributes:
        numbers: (k,) of the rows in their sample, from 0.
        log_ratio: (k,) out of fold, in nats.
        columns: names of what is shown of them.
        cells: one tuple a row, as text.
    """

    numbers: Int[np.ndarray, " k"]
    log_ratio: Float[np.ndarray, " k"]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...] = field(repr=False)

    def __post_init__(self) -> None:
        k, columns = self.numbers.size, len(self.columns)
        if len(self.cells) != k or any(len(row) != columns for row in self.cells):
            raise ValueError(
                f"`cells` must have {k} rows of {columns} texts, one for each column named; got "
                f"{len(self.cells)} rows of {sorted({len(row) for row in self.cells})}."
            )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two samples compared by one cross-fit; `print` it.

    Attributes:
        sample_names: what x_0 and x_1 are called.
        feature_names: of the columns.
        kl: KL(p_1‖p_0); its `support` is of x_0's rows weighted to stand for x_1's.
        kl_reverse: KL(p_0‖p_1), the other way round.
        jensen_shannon: symmetric, from 0 to log 2.
        drift: p-value, overlap, columns and scores of the rows.
        calibration: predicted against observed log odds of all rows, out of fold.
        unlike_0: rows of x_0 that are least like x_1.
        unlike_1: rows of x_1 that are least like x_0.
        fits: training and diagnostics of every fit.
        path: log p_t of typical rows along the path; None where no fit has one.
        why_no_path: the reason then, else empty.
        settings: what was resolved, as text.
        versions: of Python and the packages behind the numbers.
        call: the line of Python that makes the same numbers again.
        seed: of everything random.
        seconds: that the comparison took.
    """

    sample_names: tuple[str, str]
    feature_names: tuple[str, ...]
    kl: Divergence
    kl_reverse: Divergence
    jensen_shannon: Divergence
    drift: DriftReport = field(repr=False)
    calibration: CalibrationCurve = field(repr=False)
    unlike_0: UnlikeRows = field(repr=False)
    unlike_1: UnlikeRows = field(repr=False)
    fits: tuple[FitRecord, ...] = field(repr=False)
    path: PathPicture | None = field(repr=False)
    why_no_path: str = field(repr=False)
    settings: dict[str, str] = field(repr=False)
    versions: dict[str, str] = field(repr=False)
    call: str = field(repr=False)
    seed: int
    seconds: float

    @property
    def p_value(self) -> float:
        """Of "both come from one distribution"."""
        return self.drift.p_value

    @property
    def overlap(self) -> float:
        """The share that the samples have in common, 0 to 1 (O1)."""
        return self.drift.overlap

    @property
    def overlap_error(self) -> float:
        """Its standard error."""
        return self.drift.overlap_error

    @property
    def features(self) -> tuple[FeatureContribution, ...]:
        """The columns, the one that carries most of the difference first."""
        return self.drift.features

    @property
    def log_ratio_0(self) -> Float[np.ndarray, " n_0"]:
        """log p_1 − log p_0 of each row of x_0, out of fold."""
        return self.drift.fits.log_ratio_0

    @property
    def log_ratio_1(self) -> Float[np.ndarray, " n_1"]:
        """log p_1 − log p_0 of each row of x_1, out of fold."""
        return self.drift.fits.log_ratio_1

    @property
    def effective_sample_size_0(self) -> float:
        """Of x_0's rows weighted to stand for x_1's."""
        return self.kl.support.effective_sample_size

    @property
    def effective_sample_size_1(self) -> float:
        """Of x_1's rows weighted to stand for x_0's."""
        return self.kl_reverse.support.effective_sample_size

    @property
    def degree(self) -> Degree:
        """How far the samples differ."""
        return Degree.of(self.p_value, self.overlap)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before believing the numbers, each with a remedy."""
        parts = (self.kl, self.kl_reverse, self.jensen_shannon)
        return tuple(f"{d.name}: {note}" for d in parts for note in d.notes)

    @property
    def verdict(self) -> str:
        """The answer in one sentence, with its numbers."""
        low, high = self.kl.interval
        numbers = (
            f"{100 * self.overlap:.0f} % in common, KL(p_1‖p_0) {self.kl.estimate:.3g} nats "
            f"({100 * self.kl.confidence:g} % interval {low:.3g} to {high:.3g}), "
            f"p-value {self.p_value:.2g}"
        )
        carried = "" if self.degree is Degree.SAME else f"; most of it in {self._carriers}"
        return f"{self.degree.value}: {numbers}{carried}."

    @property
    def _carriers(self) -> str:
        """The fewest columns that carry half of what all positive contributions add up to."""
        positive = [max(c.contribution, 0.0) for c in self.features]
        share = np.cumsum(positive) / max(sum(positive), 1e-300)
        n = min(int(np.searchsorted(share, 0.5)) + 1, 3)
        return ", ".join(f"“{c.name}”" for c in self.features[:n])

    def __str__(self) -> str:
        """The verdict, the numbers behind it, and the first columns and rows."""
        n_0, n_1 = self.log_ratio_0.size, self.log_ratio_1.size
        zero, one = (one_line(name) for name in self.sample_names)
        return "\n".join(
            [
                self.verdict,
                "",
                f"p_0 is {zero}, {n_0} rows; p_1 is {one}, {n_1} rows; "
                f"{len(self.feature_names)} columns",
                *(_divergence_line(d) for d in (self.kl, self.kl_reverse, self.jensen_shannon)),
                f"{'share in common':<34}{self.overlap:.3f} ± {self.overlap_error:.3f}",
                f"{'effective rows of x_0 as x_1':<34}{self.effective_sample_size_0:.0f} of {n_0}",
                f"{'effective rows of x_1 as x_0':<34}{self.effective_sample_size_1:.0f} of {n_1}",
                f"{'rows of x_0 least like x_1':<34}{_rows(self.unlike_0)}",
                f"{'rows of x_1 least like x_0':<34}{_rows(self.unlike_1)}",
                "",
                *feature_lines(self.features),
                *(f"note: {note}" for note in self.notes),
                f"{len(self.fits)} fits in {self.seconds:.1f} s, seed {self.seed}",
            ]
        )

    def _repr_html_(self) -> str:
        """For notebooks: the verdict and the numbers behind it."""
        n_0, n_1 = self.log_ratio_0.size, self.log_ratio_1.size
        divergences = (self.kl, self.kl_reverse, self.jensen_shannon)
        pairs = [
            *((d.name, f"{d.estimate:.4g} ± {d.standard_error:.2g}") for d in divergences),
            ("share in common", f"{self.overlap:.3f} ± {self.overlap_error:.3f}"),
            ("effective rows of x_0 as x_1", f"{self.effective_sample_size_0:.0f} of {n_0}"),
            ("effective rows of x_1 as x_0", f"{self.effective_sample_size_1:.0f} of {n_1}"),
        ]
        return fragment(self.verdict, [*pairs, *feature_pairs(self.features)], self.notes)


def _divergence_line(found: Divergence) -> str:
    low, high = found.interval
    return (
        f"{found.name:<34}{found.estimate:.4g} ± {found.standard_error:.2g} "
        f"({100 * found.confidence:g} % {low:.4g} to {high:.4g})"
    )


def _rows(rows: UnlikeRows, n: int = 5) -> str:
    pairs = zip(rows.numbers[:n].tolist(), rows.log_ratio[:n].tolist(), strict=True)
    return ", ".join(f"{number} ({score:+.1f})" for number, score in pairs)
