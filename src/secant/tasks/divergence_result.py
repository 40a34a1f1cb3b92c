"""What an estimated divergence says, made from out-of-fold log ratios that exist already."""

from __future__ import annotations

from dataclasses import dataclass, field

from secant._host.notebook import fragment
from secant.tasks import divergence_terms as terms_of
from secant.tasks.cross_fitting import CrossFit
from secant.tasks.divergence_terms import Sides, Terms
from secant.tasks.intervals import checked_confidence, normal_interval
from secant.tasks.weight_support import WeightSupport, fold_normalised

__all__ = ["Divergence", "chi2_from", "jensen_shannon_from", "kl_from", "total_variation_from"]


@dataclass(frozen=True, eq=False)
class Divergence:
    """An estimated divergence with its error.

    Attributes:
        name: what was estimated, with the sample on top first.
        estimate: in nats for KL and Jensen–Shannon. Not cut off at 0: noise may carry it below.
        standard_error: of the two samples' rows, given the fits; not of the fits themselves.
        interval: normal interval at `confidence`.
        confidence: its level.
        notes: what to know before believing it, each with a number and a remedy.
        support: of the rows below the ratio, weighted by it.
        cross_fit: the out-of-fold log ratios and the fits behind them.
    """

    name: str
    estimate: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    notes: tuple[str, ...]
    support: WeightSupport
    cross_fit: CrossFit = field(repr=False)

    def __str__(self) -> str:
        low, high = self.interval
        line = (
            f"{self.name} = {self.estimate:.4g} ± {self.standard_error:.2g} "
            f"({100 * self.confidence:g} % interval {low:.4g} to {high:.4g})"
        )
        return "\n".join([line, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """For notebooks."""
        return fragment(str(self).splitlines()[0], [("rows", str(self.support))], self.notes)


def kl_from(scores: CrossFit, *, reverse: bool = False, confidence: float = 0.95) -> Divergence:
    """KL(p_1‖p_0), or KL(p_0‖p_1) if reversed, as `kl_divergence` has it."""
    sides = Sides.of(scores, reverse=reverse)
    support = WeightSupport.of(*fold_normalised(sides.scores))
    terms, note = terms_of.donsker_varadhan(sides.scores), ""
    if not support.is_enough:
        terms = terms_of.plain_mean(sides.scores)
        note = (
            f"{support} over {sides.below}: their mean cannot be had, so this is the plain mean of "
            "the log ratio, neither a bound nor free of the fit's own error. Compare a second "
            "estimator or more rows; jensen_shannon needs no overlap."
        )
    return _estimated(f"KL({sides}) in nats", terms, confidence, support, scores, note)


def jensen_shannon_from(scores: CrossFit, *, confidence: float = 0.95) -> Divergence:
    """½ KL(p_0‖m) + ½ KL(p_1‖m), as `jensen_shannon` has it."""
    support = WeightSupport.of(*fold_normalised(scores))
    name = "Jensen–Shannon(p_0, p_1) in nats"
    return _estimated(name, terms_of.jensen_shannon(scores), confidence, support, scores)


def chi2_from(scores: CrossFit, *, reverse: bool = False, confidence: float = 0.95) -> Divergence:
    """χ²(p_1‖p_0), or χ²(p_0‖p_1) if reversed, as `chi2_divergence` has it."""
    sides = Sides.of(scores, reverse=reverse)
    zero, one = fold_normalised(sides.scores)
    support, terms = WeightSupport.of(zero, one), terms_of.chi2(sides.scores)
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
    name = f"χ²({sides})"
    return _estimated(name, terms, confidence, support, scores, note if weak else "")


def total_variation_from(scores: CrossFit, *, confidence: float = 0.95) -> Divergence:
    """½ ∫ |p_1 − p_0|, as `total_variation` has it."""
    support = WeightSupport.of(*fold_normalised(scores))
    name = "total variation(p_0, p_1)"
    return _estimated(name, terms_of.total_variation(scores), confidence, support, scores)


def _estimated(
    name: str,
    terms: Terms,
    confidence: float,
    support: WeightSupport,
    scores: CrossFit,
    note: str = "",
) -> Divergence:
    checked_confidence(confidence)
    interval = normal_interval(terms.estimate, terms.standard_error, confidence)
    return Divergence(
        name,
        terms.estimate,
        terms.standard_error,
        interval,
        confidence,
        (note,) if note else (),
        support,
        scores,
    )
