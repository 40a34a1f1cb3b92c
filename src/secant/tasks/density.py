"""DensityEstimator: a normalised density as a learned ratio to a base."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from secant._host.jax_process import check_not_forked
from secant.bases import (
    Base,
    BaseRule,
    Copula,
    FullGaussian,
    Given,
    Growth,
    Mixture,
    SampledDensity,
    StandardNormal,
)
from secant.bases.rules import set_aside
from secant.estimators import ChasmSwitch, ClassifierRatio, Identity, RatioEstimator, SecantRatio
from secant.estimators.checks import validated
from secant.estimators.nested_parameters import NestedParameters
from secant.exceptions import NormaliserWarning, UntrainedWarning
from secant.model_files import Savable
from secant.models.networks import FourierMLP
from secant.sizing import FEW_ROWS, training_for
from secant.tasks.annealing import Annealing
from secant.tasks.atoms import Dequantisation, columns_with_atoms, warn_of_atoms
from secant.tasks.learned_density import LearnedDensity, LogNormalizer
from secant.training.checkpoints import Folder, resuming
from secant.training.settings import Training

Rows = Float[np.ndarray, "n d"]

_BASES: dict[str, BaseRule] = {
    "normal": StandardNormal(),
    "gaussian": FullGaussian(),
    "copula": Copula(),
    "mixture": Mixture(),
    "copula-mixture": Copula(Mixture()),
}
_SMALL: dict[str, BaseRule] = {
    "copula": Copula(),
    "mixture": Mixture(Growth(max_components=64)),
    "copula-mixture": Copula(Mixture(Growth(max_components=64))),
}
_ROWS_TO_LOOK = 100_000  # for the choice of the base
_MANY_ROWS = 200_000  # from here on a wider network and more steps pay off
_FEWEST_BASE_ROWS = 50_000
_MOST_BASE_ROWS = 2_000_000
_MOST_BASE_NUMBERS = 64_000_000  # 256 MiB


@dataclass(eq=False, repr=False)
class DensityEstimator(Savable, DensityMixin, NestedParameters, BaseEstimator):
    """log p(x) = log r(x) + log p_0(x) − log Ẑ, with a base p_0 and a learned ratio r.

    The interface is that of scikit-learn's `KernelDensity`: `fit`, `score_samples`, `score`,
    `sample`. A row costs one network evaluation.

    Args:
        base: p_0. `"normal"` is N(0, I) in standardised columns, `"gaussian"` N(m, S), `"copula"`
            smooth margins under a Gaussian copula, `"mixture"` a mixture of Gaussians,
            `"copula-mixture"` smooth margins under such a mixture; or a `BaseRule` of
            `secant.bases`, or any object with `sample(key, n)` and `log_prob(x)`. None fits
            a ratio on `"copula"` and on the better of the two mixtures and keeps the one with the
            higher held-out likelihood; from 200,000 rows on, only on the best of the three bases.
            Bases are compared on 100,000 rows, with mixtures of at most 64 components.
        estimator: of the ratio of the data to the base, in the base's coordinates; None is a
            classifier, and `SecantRatio` if the base is too far from the data for a classifier.
        dequantise: columns to which uniform noise over the gaps between values is added, by
            number or name; `"auto"` takes those with atoms. None takes none, and warns of atoms.
        annealing: settings for log Ẑ and for sampling where importance sampling is heavy-tailed.
        random_state: random seed.

    Attributes:
        log_normalizer_: log Ẑ in nats, already subtracted from every log density.
        normalizer_: the same with its standard error and the method of estimation.
        base_: the fitted base.
        ratio_: the fitted ratio, with `diagnostics_`.

    Examples:
        >>> import numpy as np, secant
        >>> rows = np.random.default_rng(0).normal(size=(2000, 2))
        >>> density = secant.DensityEstimator(base="gaussian", random_state=0).fit(rows)
        >>> bool(abs(density.score_samples(np.zeros((1, 2)))[0] + np.log(2 * np.pi)) < 0.3)
        True
    """

    base: str | BaseRule | SampledDensity | None = None
    _: KW_ONLY
    estimator: RatioEstimator | None = None
    dequantise: str | Sequence[int | str] | None = None
    annealing: Annealing | None = None
    random_state: int | np.random.RandomState | None = None

    def _default_component(self, name: str) -> object:
        return Annealing() if name == "annealing" else None

    # A folder holds one fit, so scikit-learn must not route it to the many fits of a search.
    __metadata_request__fit = {"resume": UNUSED}  # noqa: RUF012, as scikit-learn has it

    def fit(self, X: ArrayLike, y: None = None, *, resume: Folder | None = None) -> Self:
        """Learn the density of rows (n, d).

        Args:
            X: the rows.
            y: ignored.
            resume: a folder for checkpoints: the same call with the same folder resumes a stopped
                fit, as for `SecantRatio.fit_samples`. Bases are fitted again, with the same result.
        """
        del y
        check_not_forked()
        rows = validated(self, X, least=2)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rng = np.random.default_rng(seed)
        self.dequantisation_ = self._dequantisation(rows)
        spread = self.dequantisation_(rows, rng)
        self.annealing_ = Annealing() if self.annealing is None else self.annealing
        self._seed = seed
        rule = self._base_rule()
        with resuming(resume, self.random_state):
            learned, self.normalizer_ = (
                self._best(spread, rng)
                if rule is None
                else self._fitted(rule.fitted(spread, self._seed), spread)
            )
        self.base_, self.ratio_ = learned.base, learned.ratio
        self.log_normalizer_ = self.normalizer_.value
        self._warn()
        return self

    @property
    def _learned(self) -> LearnedDensity:
        return LearnedDensity(self.base_, self.ratio_)

    def _best(self, rows: Rows, rng: np.random.Generator) -> tuple[LearnedDensity, LogNormalizer]:
        """The candidate with the highest held-out likelihood."""
        kept, held = set_aside(rows.shape[0], rng)
        kept_rows, held_rows = rows[np.sort(kept)], rows[held]
        mixtures = ("mixture", "copula-mixture")
        # For many rows a ratio takes minutes and improves little on a mixture.
        few = rows.shape[0] < _MANY_ROWS
        choices = [("copula",), mixtures] if few else [("copula", *mixtures)]
        fits = []
        for names in choices:
            rule = _BASES[self._likeliest(names, rows[kept[:_ROWS_TO_LOOK]], held_rows)]
            fits.append(self._fitted(rule.fitted(kept_rows, self._seed), kept_rows))
        return max(fits, key=lambda fit: fit[0].log_density(held_rows).mean() - fit[1].value)

    def _likeliest(self, names: Sequence[str], rows: Rows, held: Rows) -> str:
        """The base with the highest held-out likelihood, compared at a small size."""

        def score(name: str) -> float:
            return float(_SMALL[name].fitted(rows, self._seed).log_prob(held).mean())

        return names[0] if len(names) == 1 else max(names, key=score)

    def _fitted(self, base: Base, rows: Rows) -> tuple[LearnedDensity, LogNormalizer]:
        key_base, key_mass = jax.random.split(jax.random.key(self._seed))
        ratio = default_density_ratio(rows.shape[0]) if self.estimator is None else self.estimator
        ratio = clone(ratio).set_params(random_state=self._seed)
        pool = base.sample(key_base, _pool_size(*rows.shape))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UntrainedWarning)  # the base alone may be exact
            learned = LearnedDensity(base, ratio.fit_samples(pool, base.coordinates(rows)))
        return learned, learned.normaliser(key_mass, self.annealing_)

    def _base_rule(self) -> BaseRule | None:
        """The rule of the given base; None to choose one."""
        if self.base is None or isinstance(self.base, BaseRule):
            return self.base
        if isinstance(self.base, str) and self.base in _BASES:
            return _BASES[self.base]
        if hasattr(self.base, "sample") and hasattr(self.base, "log_prob"):
            return Given(self.base)
        raise ValueError(
            f"`base` must be one of {sorted(_BASES)}, a rule of secant.bases, or an object with "
            f"`sample(key, n)` and `log_prob(x)`; got {self.base!r}."
        )

    def _dequantisation(self, rows: Rows) -> Dequantisation:
        names = [str(n) for n in getattr(self, "feature_names_in_", range(rows.shape[1]))]
        if self.dequantise is None:
            warn_of_atoms(rows, names)
            return Dequantisation.of(rows, [])
        if isinstance(self.dequantise, str):
            if self.dequantise != "auto":
                raise ValueError(
                    "`dequantise` must be None, 'auto' or a list of columns by number or name; "
                    f"got {self.dequantise!r}."
                )
            return Dequantisation.of(rows, np.flatnonzero(columns_with_atoms(rows)).tolist())
        return Dequantisation.of(rows, [_column(c, names) for c in self.dequantise])

    def score_samples(self, X: ArrayLike) -> Float[np.ndarray, " n"]:
        """log p(x) of each row, in nats per unit of the original columns.

        In dequantised columns noise is added before scoring, the same at every call.
        """
        check_is_fitted(self)
        check_not_forked()
        rows = validated(self, X, reset=False)
        spread = self.dequantisation_(rows, np.random.default_rng(self._seed))
        return self._learned.log_density(spread) - self.log_normalizer_

    def score(self, X: ArrayLike, y: None = None) -> float:
        """The total log likelihood of rows, as for `KernelDensity`; higher is better."""
        del y
        return float(self.score_samples(X).sum())

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None
    ) -> Rows:
        """Sample rows from the learned density.

        By importance resampling from the base if its weights are reliable (rows may then repeat),
        otherwise by annealing along the path with Langevin moves (N3).
        """
        check_is_fitted(self)
        check_not_forked()
        if not n_samples >= 1:
            raise ValueError(f"`n_samples` must be at least 1; got {n_samples}.")
        key = jax.random.key(int(check_random_state(random_state).randint(2**31 - 1)))
        if self.normalizer_.importance.is_reliable or not self._learned.is_annealable:
            drawn = self._learned.resampled(key, n_samples)
        else:
            drawn = self._learned.annealed(key, self.annealing_.for_rows(n_samples)).rows[
                :n_samples
            ]
        return self.dequantisation_.floored(self.base_.chart.inverse(drawn))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted."""
        return hasattr(self, "normalizer_")

    def _warn(self) -> None:
        if self.normalizer_.doubt is not None:
            warnings.warn(
                f"{self.normalizer_}. Log densities may be off by a constant; take a base nearer "
                "to the rows, such as base='copula-mixture', or more annealing.",
                NormaliserWarning,
                stacklevel=3,
            )


def default_density_ratio(n: int) -> ChasmSwitch:
    """A classifier on Fourier features if the base is close, `SecantRatio` otherwise.

    On the toy densities of the plane (50,000 rows) Fourier features reduce the excess negative log
    likelihood from 0.13 to 0.04 nats for rings on a Gaussian copula, and from 0.04 to 0.03 for the
    chessboard.
    """
    width = 128 if n < _MANY_ROWS else 256
    near = ClassifierRatio(
        trunk=FourierMLP(width), scaling=Identity(), training=_training_for_density(n)
    )
    far = SecantRatio(scaling=Identity())
    return ChasmSwitch(near, far, rows_to_look=None)


def _training_for_density(n: int) -> Training:
    if n < FEW_ROWS:
        return training_for(n)
    if n < _MANY_ROWS:
        return Training(steps=4000)
    return Training(steps=6000, batch_size=1024, validation_rows=50_000)


def _pool_size(n: int, d: int) -> int:
    """Number of rows drawn from the base; only memory limits it."""
    most = min(_MOST_BASE_ROWS, _MOST_BASE_NUMBERS // d)
    return min(max(4 * n, _FEWEST_BASE_ROWS), most)


def _column(column: int | str, names: list[str]) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise ValueError(
        f"`dequantise` names column {column!r}; columns are {names[:10]}"
        f"{' …' if len(names) > 10 else ''}."
    )
