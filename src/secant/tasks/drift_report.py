"""What a comparison of two tables has found, and how it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from secant._host.notebook import fragment
from secant.diagnostics.text import aligned
from secant.tasks.attribution import FeatureContribution
from secant.tasks.cross_fitting import CrossFit

__all__ = ["DriftReport", "feature_lines", "feature_pairs"]

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class DriftReport:
    """What distinguishes current rows from reference rows; `print` it.

    Attributes:
        p_value: of "both come from one distribution", by permutations of out-of-fold scores.
        fold_p_values: (n_folds,) of each fold.
        row_scores: (n,) out-of-fold log ratio of each current row, in nats; high is unlike the
            reference.
        features: the columns, the one that carries most of the difference first.
        overlap: the share that reference and current have in common, 0 to 1 (O1).
        overlap_error: its standard error.
        divergence: mean log ratio of current less that of reference rows, in nats: an estimate of
            Jeffreys' divergence, which the features' gradients (A1) add up to but for the pairing.
        fits: the scores of both samples and the fits.
    """

    p_value: float
    fold_p_values: Float[np.ndarray, " n_folds"] = field(repr=False)
    row_scores: Float[np.ndarray, " n"] = field(repr=False)
    features: tuple[FeatureContribution, ...] = field(repr=False)
    overlap: float
    overlap_error: float
    divergence: float
    fits: CrossFit = field(repr=False)

    def has_drift(self, level: float = 0.05) -> bool:
        """Whether the p-value is below a level, the share of false alarms where nothing changed."""
        return self.p_value < level

    def top_rows(self, n: int = 10) -> Int[np.ndarray, " n"]:
        """Numbers of the n current rows that are most unlike the reference, the first most."""
        return np.argsort(-self.row_scores, kind="stable")[:n]

    def __str__(self) -> str:
        """The answer, the numbers behind it, and the first columns and rows."""
        n_0, n_1 = self.fits.log_ratio_0.size, self.row_scores.size
        answer = "drift" if self.has_drift() else "no drift found"
        rows = ", ".join(f"{i} ({self.row_scores[i]:+.1f})" for i in self.top_rows(_SHOWN))
        return "\n".join(
            [
                f"{answer}: p-value {self.p_value:.2g} ({n_0} reference rows, {n_1} current rows, "
                f"{self.fold_p_values.size} folds)",
                f"share in common {self.overlap:.3f} ± {self.overlap_error:.3f}, divergence "
                f"{self.divergence:.3g} nats",
                f"current rows most unlike the reference (log ratio): {rows}",
                "",
                *feature_lines(self.features),
            ]
        )

    def _repr_html_(self) -> str:
        """For notebooks: the answer, and what the first columns carry."""
        answer, common, *_ = str(self).splitlines()
        return fragment(answer, [("", common), *feature_pairs(self.features)])


def feature_pairs(features: Sequence[FeatureContribution]) -> list[tuple[str, str]]:
    """The first columns and what they carry, as names and values."""
    return [
        (c.name, f"{c.contribution:.3f} ± {c.contribution_error:.3f} nats")
        for c in features[:_SHOWN]
    ]


def feature_lines(features: Sequence[FeatureContribution]) -> list[str]:
    """The first columns as an aligned table, a line each."""
    more = f", the first {_SHOWN} of {len(features)}" if len(features) > _SHOWN else ""
    header: tuple[str, ...] = (
        "column",
        "gradients (nats)",
        "replaced (nats)",
        "mean shift (s.d.)",
        "KS distance",
    )
    rows: list[tuple[str, ...]] = [
        (
            c.name,
            "" if c.gradient is None else f"{c.gradient:.3f} ± {c.gradient_error:.3f}",
            f"{c.replacement:.3f} ± {c.replacement_error:.3f}",
            f"{c.margin.mean_shift:+.2f}",
            f"{c.margin.ks_distance:.3f}",
        )
        for c in features[:_SHOWN]
    ]
    if all(c.gradient is None for c in features):
        header, rows = (header[0], *header[2:]), [(r[0], *r[2:]) for r in rows]
    return [
        f"columns by what they carry{more}",
        *(f"  {line}" for line in aligned([header, *rows])),
    ]
