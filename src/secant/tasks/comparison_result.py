"""The result of a comparison of two samples, and its text."""

from __future__ import annotations

import enum
import itertools
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int

from secant._host.escaping import one_line
from secant._host.notebook import Summarised, fragment
from secant.diagnostics import CalibrationCurve
from secant.tables.encoding import EncodedTable
from secant.tasks.attribution import FeatureContribution, feature_lines, feature_pairs
from secant.tasks.cross_fitting import CrossFit, FitRecord
from secant.tasks.divergence import Divergence
from secant.tasks.path_picture import PathPicture
from secant.tasks.two_sample import TwoSampleTest

_LEVEL = 0.05
_BINS = 24
_MILD = 0.8  # overlap of two unit normals half a standard deviation apart
_APART = 0.1  # overlap of two unit normals 3.3 standard deviations apart


class Degree(enum.Enum):
    """How far two samples differ; the value is the sentence in reports.

    SAME: the p-value is at least 0.05. Otherwise the overlap decides: MILD is at least 0.8, APART
    below 0.1, and STRONG in between.
    """

    SAME = "No difference was found"
    MILD = "The samples differ mildly"
    STRONG = "The samples differ strongly"
    APART = "The samples hardly overlap"

    @classmethod
    def of(cls, p_value: float, overlap: float) -> Degree:
        """From the p-value and the overlap."""
        if not p_value < _LEVEL:
            return cls.SAME
        if overlap >= _MILD:
            return cls.MILD
        return cls.STRONG if overlap >= _APART else cls.APART


@dataclass(frozen=True, eq=False)
class UnlikeRows:
    """The rows of one sample that are least like the other, the most unlike first.

    Attributes:
        numbers: (k,) row numbers in the sample, from 0.
        log_ratio: (k,) out of fold, in nats.
        columns: names of the columns shown.
        cells: one tuple of texts per row.
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

    def with_cells(
        self, source: EncodedTable, rows: Int[np.ndarray, " n"] | None = None
    ) -> UnlikeRows:
        """The same rows with the numbers and cells of the table instead of its encoding.

        Args:
            source: the table.
            rows: numbers of the sample's rows among the encoded ones; None if these are the sample.
        """
        encoded = self.numbers if rows is None else rows[self.numbers]
        shown = [
            not set(names).isdisjoint(self.columns) for names in source.encoding.columns.values()
        ]
        return replace(
            self,
            numbers=source.numbers_of(encoded),
            columns=tuple(itertools.compress(source.encoding.inputs, shown)),
            cells=tuple(tuple(itertools.compress(c, shown)) for c in source.cells_of(encoded)),
        )


@dataclass(frozen=True, eq=False)
class ColumnHistogram:
    """One column in both samples.

    Attributes:
        name: of the column.
        edges: (b + 1,) of equal bins; values beyond are counted in the end bins.
        share_0: (b,) share of x_0's rows in each bin.
        share_1: (b,) share of x_1's rows.
    """

    name: str
    edges: Float[np.ndarray, " b_and_1"]
    share_0: Float[np.ndarray, " b"]
    share_1: Float[np.ndarray, " b"]

    @classmethod
    def of(
        cls, name: str, zero: Float[np.ndarray, " n"], one: Float[np.ndarray, " m"]
    ) -> ColumnHistogram:
        """Bins that cover all but the outermost 1 % of the pooled rows."""
        low, high = np.quantile(np.concatenate([zero, one]), [0.005, 0.995])
        if not high > low:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, _BINS + 1)
        shares = [np.histogram(np.clip(v, low, high), edges)[0] / v.size for v in (zero, one)]
        return cls(name, edges, *shares)


@dataclass(frozen=True, eq=False)
class Comparison(Summarised):
    """Two samples compared by one cross-fit; `print` it.

    Attributes:
        sample_names: names of x_0 and x_1.
        feature_names: of the columns.
        test: the two-sample test of p_0 = p_1.
        kl: KL(p_1‖p_0); its `support` is of x_0's rows, weighted to represent x_1.
        kl_reverse: KL(p_0‖p_1).
        jensen_shannon: symmetric, from 0 to log 2.
        total_variation: symmetric, from 0 to 1; one minus it is the overlap.
        features: the columns, the largest contribution first.
        calibration: predicted against observed log odds of all rows, out of fold.
        unlike_0: rows of x_0 that are least like x_1.
        unlike_1: rows of x_1 that are least like x_0.
        margins: histograms of the first columns in both samples.
        fits: training and diagnostics of every fit.
        path: log p_t of typical rows along the path; None if no fit has a path.
        why_no_path: the reason if there is no path, else empty.
        settings: resolved settings, as text.
        versions: of Python and the packages behind the numbers.
        call: the Python call that reproduces the result.
        seed: random seed.
        seconds: duration of the comparison.
    """

    sample_names: tuple[str, str]
    feature_names: tuple[str, ...]
    test: TwoSampleTest = field(repr=False)
    kl: Divergence
    kl_reverse: Divergence
    jensen_shannon: Divergence
    total_variation: Divergence = field(repr=False)
    features: tuple[FeatureContribution, ...] = field(repr=False)
    calibration: CalibrationCurve = field(repr=False)
    unlike_0: UnlikeRows = field(repr=False)
    unlike_1: UnlikeRows = field(repr=False)
    margins: tuple[ColumnHistogram, ...] = field(repr=False)
    fits: tuple[FitRecord, ...] = field(repr=False)
    path: PathPicture | None = field(repr=False)
    why_no_path: str = field(repr=False)
    settings: dict[str, str] = field(repr=False)
    versions: dict[str, str] = field(repr=False)
    call: str = field(repr=False)
    seed: int
    seconds: float

    @property
    def drift(self) -> Comparison:
        """Deprecated: a comparison is its own drift report."""
        warnings.warn(
            "Comparison.drift is deprecated: the comparison itself has all of it.",
            FutureWarning,
            stacklevel=2,
        )
        return self

    @property
    def cross_fit(self) -> CrossFit:
        """The out-of-fold log ratios and the fits behind them."""
        return self.test.cross_fit

    @property
    def p_value(self) -> float:
        """The p-value of p_0 = p_1."""
        return self.test.p_value

    @property
    def overlap(self) -> float:
        """∫ min(p_0, p_1), the share that the samples have in common, 0 to 1 (O1)."""
        return 1.0 - self.total_variation.estimate

    @property
    def overlap_interval(self) -> tuple[float, float]:
        """The interval of the overlap; it reaches 1 if the samples may be equal."""
        low, high = self.total_variation.interval
        return max(1.0 - high, 0.0), 1.0 - low

    @property
    def overlap_error(self) -> float:
        """The standard error of the overlap."""
        return self.total_variation.standard_error

    @property
    def log_ratio_0(self) -> Float[np.ndarray, " n_0"]:
        """log p_1 − log p_0 of each row of x_0, out of fold."""
        return self.cross_fit.log_ratio_0

    @property
    def log_ratio_1(self) -> Float[np.ndarray, " n_1"]:
        """log p_1 − log p_0 of each row of x_1, out of fold; high is unlike x_0."""
        return self.cross_fit.log_ratio_1

    @property
    def row_scores(self) -> Float[np.ndarray, " n_1"]:
        """The same as `log_ratio_1`."""
        return self.log_ratio_1

    @property
    def divergence(self) -> float:
        """Mean log ratio of x_1 minus that of x_0: the sum of the gradients (A1) over columns."""
        return float(self.log_ratio_1.mean() - self.log_ratio_0.mean())

    @property
    def effective_sample_size_0(self) -> float:
        """Effective sample size of x_0's rows, weighted to represent x_1."""
        return self.kl.support.effective_sample_size

    @property
    def effective_sample_size_1(self) -> float:
        """Effective sample size of x_1's rows, weighted to represent x_0."""
        return self.kl_reverse.support.effective_sample_size

    @property
    def degree(self) -> Degree:
        """How far the samples differ."""
        return Degree.of(self.p_value, self.overlap)

    @property
    def model(self) -> str:
        """The model of the ratio and, if it was chosen automatically, why."""
        choice = self.cross_fit.choice
        if choice is None:
            return f"{self.fits[0].estimator}, as given"
        return f"{choice.name} ({choice.reason})"

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats, each with a remedy."""
        parts = (self.kl, self.kl_reverse, self.jensen_shannon)
        notes = tuple(f"{d.name}: {note}" for d in parts for note in d.notes)
        if self.degree is not Degree.SAME and not self.kl.is_resolved:
            notes += (
                "The test finds a difference, but these rows do not determine its size: the "
                "intervals start at 0. Use more rows.",
            )
        return notes

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns with most of the difference and how they changed; none if SAME."""
        if self.degree is Degree.SAME:
            return ()
        one = one_line(self.sample_names[1])
        positive = [max(c.contribution, 0.0) for c in self.features]
        share = np.cumsum(positive) / max(sum(positive), 1e-300)
        n = min(int(np.searchsorted(share, 0.5)) + 1, 3)
        return tuple(f"“{c.name}” ({c.direction(one)})" for c in self.features[:n])

    @property
    def share_text(self) -> str:
        """The overlap as text; its lower bound if no difference is resolved."""
        if not self.total_variation.is_resolved:
            return f"at least {100 * self.overlap_interval[0]:.0f} % in common"
        return f"{100 * self.overlap:.0f} % in common"

    @property
    def verdict(self) -> str:
        """The result in one sentence, with its numbers."""
        numbers = (
            f"{self.share_text}, KL(p_1‖p_0) {self.kl.value_text} nats, p-value {self.p_value:.2g}"
        )
        carried = f"; most of it in {', '.join(self.changes)}" if self.changes else ""
        return f"{self.degree.value}: {numbers}{carried}."

    def has_drift(self, level: float = 0.05) -> bool:
        """Whether the p-value is below a level, the false-alarm rate if nothing changed."""
        return self.p_value < level

    def top_rows(self, n: int = 10) -> Int[np.ndarray, " n"]:
        """Numbers of the n rows of x_1 that are least like x_0, the most unlike first."""
        return np.argsort(-self.log_ratio_1, kind="stable")[:n]

    def with_cells(self, first: EncodedTable, second: EncodedTable) -> Comparison:
        """The same with the unlike rows as they appear in the tables."""
        return replace(
            self,
            unlike_0=self.unlike_0.with_cells(first),
            unlike_1=self.unlike_1.with_cells(second),
        )

    def __str__(self) -> str:
        """The verdict, the numbers behind it, and the first columns and rows."""
        n_0, n_1 = self.log_ratio_0.size, self.log_ratio_1.size
        zero, one = (one_line(name) for name in self.sample_names)
        pairs = [*self._numbers(), *self._unlike_rows(), ("model", self.model)]
        return "\n".join(
            [
                self.verdict,
                "",
                f"p_0 is {zero}, {n_0} rows; p_1 is {one}, {n_1} rows; "
                f"{len(self.feature_names)} columns",
                *(f"{name:<34}{value}" for name, value in pairs),
                "",
                *feature_lines(self.features),
                *(f"note: {note}" for note in self.notes),
                f"{len(self.fits)} fits in {self.seconds:.1f} s, seed {self.seed}",
            ]
        )

    def _repr_html_(self) -> str:
        """For notebooks: the verdict and the numbers behind it."""
        pairs = [*self._numbers(), *feature_pairs(self.features)]
        return fragment(self.verdict, pairs, self.notes)

    def _numbers(self) -> list[tuple[str, str]]:
        """The numbers behind the verdict, with their names."""
        n_0, n_1 = self.log_ratio_0.size, self.log_ratio_1.size
        return [
            *((d.name, d.value_text) for d in (self.kl, self.kl_reverse, self.jensen_shannon)),
            ("share in common", _share(self)),
            ("effective rows of x_0 as x_1", f"{self.effective_sample_size_0:.0f} of {n_0}"),
            ("effective rows of x_1 as x_0", f"{self.effective_sample_size_1:.0f} of {n_1}"),
        ]

    def _unlike_rows(self) -> list[tuple[str, str]]:
        """The rows least like the other sample; none where no difference was found."""
        if self.degree is Degree.SAME:
            return []
        return [
            ("rows of x_0 least like x_1", _rows(self.unlike_0)),
            ("rows of x_1 least like x_0", _rows(self.unlike_1)),
        ]


def _share(found: Comparison) -> str:
    low, high = found.overlap_interval
    level = f"{100 * found.kl.confidence:g} %"
    if not found.total_variation.is_resolved:
        return f"at least {low:.3f} ({level})"
    return f"{found.overlap:.3f} ({level} interval {low:.3f} to {high:.3f})"


def _rows(rows: UnlikeRows, n: int = 5) -> str:
    pairs = zip(rows.numbers[:n].tolist(), rows.log_ratio[:n].tolist(), strict=True)
    return ", ".join(f"{number} ({score:+.1f})" for number, score in pairs)
