"""What an estimated divergence says, made from out-of-fold log ratios that exist already."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist

from secant._host.notebook import Summarised, fragment
from secant.tasks import divergence_terms as terms_of
from secant.tasks.cross_fitting import CrossFit
from secant.tasks.divergence_intervals import Intervals, normal_estimate, regression_of
from secant.tasks.divergence_terms import Sides
from secant.tasks.tilted_bootstrap import IntervalEstimate
from secant.tasks.weight_support import WeightSupport, fold_normalised

__all__ = ["Divergence", "chi2_from", "jensen_shannon_from", "kl_from", "total_variation_from"]


@dataclass(frozen=True, eq=False)
class Divergence(Summarised):
    """An estimated divergence with its error.

    Attributes:
        name: what was estimated, with the sample on top first.
        estimate: in nats for KL and Jensen–Shannon, never below 0.
        interval: at `confidence`, with what the fit itself is uncertain by. It starts at 0 where
            the samples may be alike: then its upper end is what is known.
        confidence: its level.
        notes: what to know before believing it, each with a number and a remedy.
        support: of the rows below the ratio, weighted by it.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    name: str
    estimate: float
    interval: tuple[float, float]
    confidence: float
    notes: tuple[str, ...]
    support: WeightSupport
    cross_fit: CrossFit = field(repr=False)

    @property
    def standard_error(self) -> float:
        """That of a normal distribution whose interval is as wide, above 0 if this starts there."""
        z = NormalDist().inv_cdf(0.5 + 0.5 * self.confidence)
        low, high = self.interval
        return (high - low) / (2.0 * z) if low > 0.0 else (high - self.estimate) / z

    @property
    def is_resolved(self) -> bool:
        """Whether the interval is above 0."""
        return self.interval[0] > 0.0

    @property
    def value_text(self) -> str:
        """The estimate with its interval, or the upper end where 0 is in it."""
        low, high = self.interval
        if not self.is_resolved:
            return f"at most {high:.3g} ({100 * self.confidence:g} %)"
        return f"{self.estimate:.3g} ({100 * self.confidence:g} % interval {low:.3g} to {high:.3g})"

    def __str__(self) -> str:
        line = f"{self.name}: {self.value_text}"
        return "\n".join([line, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """For notebooks."""
        return fragment(str(self).splitlines()[0], [("rows", str(self.support))], self.notes)


def kl_from(
    scores: CrossFit, found: Intervals, *, reverse: bool = False, confidence: float = 0.95
) -> Divergence:
    """KL(p_1‖p_0), or KL(p_0‖p_1) if reversed, as `kl_divergence` has it."""
    sides = Sides.of(scores, reverse=reverse)
    support = WeightSupport.of(*fold_normalised(sides.scores))
    estimate, note = found["kl_reverse" if reverse else "kl"], ""
    if not support.is_enough and regression_of(scores) is not None:
        note = (
            f"{support} over {sides.below}: the estimate rests on the form of the regression where "
            "there are few rows. Compare a second estimator; jensen_shannon needs no overlap."
        )
    elif not support.is_enough:
        estimate = normal_estimate(terms_of.plain_mean(sides.scores), confidence)
        note = (
            f"{support} over {sides.below}: their mean cannot be had, so this is the plain mean of "
            "the log ratio, neither a bound nor free of the fit's own error. Compare a second "
            "estimator or more rows; jensen_shannon needs no overlap."
        )
    return _divergence(f"KL({sides}) in nats", estimate, confidence, support, scores, note)


def jensen_shannon_from(
    scores: CrossFit, found: Intervals, *, confidence: float = 0.95
) -> Divergence:
    """½ KL(p_0‖m) + ½ KL(p_1‖m), as `jensen_shannon` has it."""
    support = WeightSupport.of(*fold_normalised(scores))
    name = "Jensen–Shannon(p_0, p_1) in nats"
    return _divergence(name, found["jensen_shannon"], confidence, support, scores)


def chi2_from(
    scores: CrossFit, found: Intervals, *, reverse: bool = False, confidence: float = 0.95
) -> Divergence:
    """χ²(p_1‖p_0), or χ²(p_0‖p_1) if reversed, as `chi2_divergence` has it."""
    sides = Sides.of(scores, reverse=reverse)
    zero, one = fold_normalised(sides.scores)
    support = WeightSupport.of(zero, one)
    means = {
        f"the ratio over {sides.below}": support,
        f"the squared ratio over {sides.below}": WeightSupport.of(2.0 * zero),
        f"the ratio over {sides.top}": WeightSupport.of(one),
    }
    weak = [f"{what} has {rows}" for what, rows in means.items() if not rows.is_enough]
    note = (
        f"{'; '.join(weak)}: a few rows make this estimate, and its error is larger than it says. "
        "Use kl_divergence or jensen_shannon, or collect rows where the samples overlap."
    )
    return _divergence(
        f"χ²({sides})",
        found["chi2_reverse" if reverse else "chi2"],
        confidence,
        support,
        scores,
        note if weak else "",
    )


def total_variation_from(
    scores: CrossFit, found: Intervals, *, confidence: float = 0.95
) -> Divergence:
    """½ ∫ |p_1 − p_0|, as `total_variation` has it."""
    support = WeightSupport.of(*fold_normalised(scores))
    name = "total variation(p_0, p_1)"
    return _divergence(name, found["total_variation"], confidence, support, scores)


def _divergence(
    name: str,
    found: IntervalEstimate,
    confidence: float,
    support: WeightSupport,
    scores: CrossFit,
    note: str = "",
) -> Divergence:
    notes = (note,) if note else ()
    interval = (found.low, found.high)
    return Divergence(name, found.value, interval, confidence, notes, support, scores)
