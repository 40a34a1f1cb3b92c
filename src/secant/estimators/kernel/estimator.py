"""KernelRatio: least squares, likelihood and logistic regression with kernels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from jaxtyping import Float, Int

from secant.estimators._base import RatioEstimator
from secant.estimators.checks import is_count
from secant.estimators.direct import stratified_folds
from secant.estimators.kernel.least_squares import LeastSquares
from secant.estimators.kernel.likelihood import Likelihood
from secant.estimators.kernel.linear_model import (
    GaussianBasis,
    Rows,
    WholeSample,
    median_distance,
    squared_distances,
)
from secant.estimators.kernel.logistic import KernelLogistic
from secant.estimators.kernel.selection import (
    Choice,
    KernelMethod,
    Link,
    LogLink,
    best_candidate,
    diagnosed,
)
from secant.samples import Sample, rows_for_scaling
from secant.scaling import ScalingRule, Standardise

_FOLDS = 5
_ALPHA = 0.5  # the samples then play the same role (D2)
_BANDWIDTHS = 2.0 ** np.arange(-2.0, 3.5, 0.5)  # in median distances
_RIDGES = 10.0 ** np.arange(-8.0, 1.0)
_ROWS_FOR_SELECTION = 10_000  # of each sample; the last fit uses all
_ROWS_FOR_MEDIAN = 1000
_ROWS_AT_ONCE = 1 << 14

LEAVE_ONE_OUT, LEPSKII = "leave-one-out", "lepskii"
_LEAST_SQUARES = ("ridge", "iterations", "regularisation")
# The settings of each method beside those of all.
_SETTINGS: dict[str, tuple[str, ...]] = {
    "kliep": (),
    "kulsif": _LEAST_SQUARES,
    "logistic": ("ridge", "iterations"),
    "rulsif": ("alpha", "nonnegative", *_LEAST_SQUARES),
    "ulsif": ("nonnegative", *_LEAST_SQUARES),
}
_SCHEMES = ("cut-off", "flow", "ridge")


@dataclass(eq=False, repr=False)
class KernelRatio(RatioEstimator):
    """The ratio as a combination of Gaussian kernels, r(x) = Σ_k θ_k exp(−‖x − c_k‖²/2σ²).

    `"ulsif"` (D1) and `"rulsif"` (D2) are least squares on centres from x_1, `"kulsif"` (D4) least
    squares in the kernel's Hilbert space on centres from both samples, `"kliep"` (D3) maximises a
    likelihood. They model the ratio, not its logarithm, so they suit samples that overlap.
    `"logistic"` (H1) is logistic regression in the Hilbert space, whose function is the log ratio.
    All are convex, and deterministic but for the choice of centres.

    `log_ratio` is log p_1 − log p_0 for every method: RuLSIF's relative ratio is inverted (D2). A
    fitted ratio outside [floor, 1/floor], negative ones included, is clipped; `diagnostics_` says
    how often.

    Args:
        method: `"ulsif"`, `"rulsif"`, `"kliep"`, `"kulsif"` or `"logistic"`.
        alpha: share of p_1 in RuLSIF's denominator, in [0, 1); None is 0.5. For no other method.
        n_centers: kernels at most; with at least as many as there are rows, all rows are centres
            and KuLSIF is exact.
        bandwidth: σ in scaled columns, or candidates; None is 11 multiples, ¼ to 8, of the median
            distance.
        ridge: ρ, or candidates; None is 1e-8 to 1, one a decade. Not for KLIEP, which has none.
        iterations: rounds of iterated ridge (D5, H1); 1 is the plain one. Not for KLIEP.
        regularisation: of least squares: `"ridge"`, or another filter of the spectrum (H3):
            `"cut-off"` leaves out directions below the ridge, `"flow"` follows the gradient until
            1/ridge.
        nonnegative: set negative coefficients to 0, as in the papers on uLSIF and RuLSIF; clipping
            instead is more accurate. For those two only.
        selection: `"leave-one-out"` (D9), by the logistic loss of the log ratio; or a number of
            folds; or `"lepskii"` (H2), which balances bias and noise to choose the ridge, and
            leaves the bandwidth to held-out rows. None is leave-one-out, or 5 folds where there is
            no closed form: KLIEP (by its likelihood), `nonnegative`, filters, and `"logistic"`
            in several rounds.
        floor: smallest ratio, and one over the largest; beyond, ratios are clipped. Not for
            `"logistic"`.
        scaling: of the columns; None is `Standardise()`.
        random_state: seed of the choice of centres, and of rows and folds for the selection.

    Attributes:
        bandwidth_: the bandwidth chosen.
        ridge_: the ridge chosen.
        centers_: c_k, in scaled columns.
        coefficients_: θ of those kernels.
        diagnostics_: a `KernelDiagnostics`, on rows left out of the fit.

    Examples:
        >>> import numpy as np
        >>> from secant import KernelRatio
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0.0, 1.0, (2000, 1)), rng.normal(0.5, 1.0, (2000, 1))
        >>> ratio = KernelRatio("rulsif", random_state=0).fit_samples(x_0, x_1)
        >>> at = np.array([[-1.0], [0.25], [1.0]])
        >>> bool(np.abs(ratio.log_ratio(at) - (0.5 * at[:, 0] - 0.125)).max() < 0.2)
        True
    """

    method: str = "ulsif"
    _: KW_ONLY
    alpha: float | None = None
    n_centers: int = 200
    bandwidth: float | list[float] | None = None
    ridge: float | list[float] | None = None
    iterations: int = 1
    regularisation: str = "ridge"
    nonnegative: bool = False
    selection: str | int | None = None
    floor: float = 1e-3
    scaling: ScalingRule | None = None
    random_state: int | np.random.RandomState | None = None

    def _fit(self, sample_0: Sample, sample_1: Sample, seed: int) -> None:
        _check_settings(self)
        method, rng = self._resolved(), np.random.default_rng(seed)
        rule = Standardise() if self.scaling is None else self.scaling
        raw = [rows_for_scaling(s, rng) for s in (sample_0, sample_1)]
        self.scaling_ = rule.fitted(*raw)
        whole = WholeSample(sample_0, sample_1, self.scaling_)
        rows = whole.thinned(_ROWS_FOR_SELECTION, rng)
        self.centers_ = self._centers(rows, rng)
        choice = self._choice(method, rows, rng)
        self.bandwidth_, self.ridge_ = choice.bandwidth, choice.ridge
        basis = method.basis(self.centers_, choice.bandwidth)
        blocks = whole.feature_blocks(basis, method.link.alpha)
        theta = method.solver.coefficients(blocks, np.array([choice.ridge]))[:, 0]
        self.coefficients_ = theta if basis.mixing is None else basis.mixing @ theta
        self.link_ = method.link
        self.diagnostics_ = diagnosed(choice, rows, method.link, rng, self._feature_drift(*raw))
        self.diagnostics_.warn()

    def _resolved(self) -> KernelMethod:
        balances = self.selection == LEPSKII
        if self.method == "kliep":
            return KernelMethod(Likelihood(), Link(0.0, self.floor))
        if self.method == "logistic":
            return KernelMethod(
                KernelLogistic(self.iterations), LogLink(), in_hilbert_space=True, balances=balances
            )
        alpha = _ALPHA if self.alpha is None else float(self.alpha)
        return KernelMethod(
            LeastSquares(self.iterations, self.nonnegative, self.regularisation),
            Link(alpha if self.method == "rulsif" else 0.0, self.floor),
            in_hilbert_space=self.method == "kulsif",
            balances=balances,
        )

    def _centers(self, rows: Rows, rng: np.random.Generator) -> Float[np.ndarray, "b d"]:
        """Distinct rows of x_1, where the ratio is large; in the Hilbert space also of x_0."""
        of_both = self.method in ("kulsif", "logistic")
        shares = [rows.share_0, rows.share_1] if of_both else [rows.share_1]
        parts = np.array_split(np.arange(self.n_centers), len(shares))
        drawn = [_drawn(s, part.size, rng) for s, part in zip(shares, parts, strict=True)]
        return np.unique(rows.x[np.concatenate(drawn)], axis=0)

    def _choice(self, method: KernelMethod, rows: Rows, rng: np.random.Generator) -> Choice:
        return best_candidate(
            method,
            rows,
            self.centers_,
            bandwidths=self._bandwidths(rows, rng),
            ridges=self._ridges(),
            folds=None if self._leaves_one_out() else self._folds(rows, rng),
        )

    def _bandwidths(self, rows: Rows, rng: np.random.Generator) -> Float[np.ndarray, " j"]:
        if self.bandwidth is not None:
            return np.atleast_1d(np.asarray(self.bandwidth, dtype=np.float64))
        some = rng.permutation(rows.x.shape[0])[:_ROWS_FOR_MEDIAN]
        return median_distance(squared_distances(rows.x[some], self.centers_)) * _BANDWIDTHS

    def _ridges(self) -> Float[np.ndarray, " k"]:
        if self.method == "kliep":
            return np.zeros(1)
        return _RIDGES if self.ridge is None else np.atleast_1d(np.asarray(self.ridge, np.float64))

    def _leaves_one_out(self) -> bool:
        return _has_leave_one_out(self) and not isinstance(self.selection, int | np.integer)

    def _folds(self, rows: Rows, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
        folds = self.selection
        n_folds = int(folds) if isinstance(folds, int | np.integer) else _FOLDS
        return stratified_folds((rows.share_1 > 0.0).astype(int), n_folds, rng)

    def _log_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return self.link_.log_ratio(self._relative_ratio(X))

    def _relative_ratio(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """The fitted combination of kernels itself, in blocks."""
        basis = GaussianBasis(self.centers_, self.bandwidth_)
        return np.concatenate(
            [
                basis(self.scaling_.precise(X[start : start + _ROWS_AT_ONCE])) @ self.coefficients_
                for start in range(0, X.shape[0], _ROWS_AT_ONCE)
            ]
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted; a failed fit may leave `n_features_in_`."""
        return hasattr(self, "diagnostics_")


def _drawn(
    share: Float[np.ndarray, " n"], most: int, rng: np.random.Generator
) -> Int[np.ndarray, " m"]:
    """Rows with a share in this sample, drawn in proportion to it if there are more than needed."""
    members = np.flatnonzero(share > 0.0)
    if members.size <= most:
        return members
    return rng.choice(members, most, replace=False, p=share[members] / share[members].sum())


def _check_settings(estimator: KernelRatio) -> None:
    """Check the settings, and that the method has them."""
    if estimator.method not in list(_SETTINGS):  # a list: the value may not be hashable
        raise ValueError(f"`method` must be one of {list(_SETTINGS)}; got {estimator.method!r}.")
    if estimator.regularisation not in list(_SCHEMES):
        raise ValueError(
            f"`regularisation` must be one of {list(_SCHEMES)}; got {estimator.regularisation!r}."
        )
    _check_numbers(estimator)
    _check_that_it_applies(estimator)
    _check_selection(estimator)
    if not isinstance(estimator.scaling, ScalingRule | None):
        raise TypeError(f"`scaling` must be a ScalingRule or None; got {estimator.scaling!r}.")


def _check_numbers(estimator: KernelRatio) -> None:
    for name in ("n_centers", "iterations"):
        value = getattr(estimator, name)
        if not is_count(value, least=1):
            raise ValueError(f"`{name}` must be an integer of at least 1; got {value!r}.")
    for name in ("bandwidth", "ridge"):
        value = getattr(estimator, name)
        if value is not None and not _are_positive(value):
            raise ValueError(f"`{name}` must be a positive number, several or None; got {value!r}.")
    if not (_are_positive(estimator.floor) and estimator.floor < 1.0):
        raise ValueError(f"`floor` must lie in (0, 1); got {estimator.floor!r}.")
    if estimator.alpha is not None and not 0.0 <= estimator.alpha < 1.0:
        raise ValueError(f"`alpha` must lie in [0, 1); got {estimator.alpha!r}.")


def _are_positive(value: object) -> bool:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "fiu" or numbers.ndim > 1 or numbers.size == 0:
        return False
    return bool((np.isfinite(numbers) & (numbers > 0)).all())


def _check_that_it_applies(estimator: KernelRatio) -> None:
    given = {
        "alpha": estimator.alpha is not None,
        "ridge": estimator.ridge is not None,
        "iterations": estimator.iterations != 1,
        "nonnegative": estimator.nonnegative,
        "regularisation": estimator.regularisation != "ridge",
    }
    for name, is_given in given.items():
        if is_given and name not in _SETTINGS[estimator.method]:
            methods = [m for m, settings in _SETTINGS.items() if name in settings]
            raise ValueError(
                f"`{name}` applies to {methods} only; got {name}={getattr(estimator, name)!r} "
                f"with method={estimator.method!r}."
            )
    if given["regularisation"] and given["iterations"]:
        raise ValueError(
            "`iterations` are of the ridge; got "
            f"iterations={estimator.iterations} with regularisation={estimator.regularisation!r}."
        )


def _has_leave_one_out(estimator: KernelRatio) -> bool:
    """Whether there is a formula: (D9) of least squares by a ridge, or (H1) in one round."""
    if estimator.method == "logistic":
        return bool(estimator.iterations == 1)
    is_ridge = estimator.regularisation == "ridge" and not estimator.nonnegative
    return is_ridge and estimator.method != "kliep"


def _check_selection(estimator: KernelRatio) -> None:
    value = estimator.selection
    is_number = is_count(value, least=2)
    if not (value is None or is_number or value in (LEAVE_ONE_OUT, LEPSKII)):
        raise ValueError(
            f"`selection` must be {LEAVE_ONE_OUT!r}, {LEPSKII!r}, a number of folds of at least 2, "
            f"or None; got {value!r}."
        )
    if value == LEAVE_ONE_OUT and not _has_leave_one_out(estimator):
        raise ValueError(
            "`selection` must be a number of folds or None for KLIEP, for nonnegative=True, for "
            "filters and for iterated logistic regression, which have no closed form for it; "
            f"got {value!r}."
        )
    if value == LEPSKII and not _has_one_ridge(estimator):
        raise ValueError(
            "`selection` 'lepskii' chooses the ridge of one round, without nonnegative=True; not "
            f"for method={estimator.method!r}, iterations={estimator.iterations}, "
            f"nonnegative={estimator.nonnegative}, regularisation={estimator.regularisation!r}."
        )


def _has_one_ridge(estimator: KernelRatio) -> bool:
    plain = estimator.iterations == 1 and estimator.regularisation == "ridge"
    return plain and not estimator.nonnegative and estimator.method != "kliep"
