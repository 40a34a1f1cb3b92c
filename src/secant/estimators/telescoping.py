"""TRE: a sum of classifiers between neighbouring waymarks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from secant.estimators._base import RatioEstimator
from secant.estimators.neural import PathMixin, composed
from secant.fitting import Method
from secant.models.telescoping import TelescopingHeads
from secant.paths import DiffusionInterpolant, Path
from secant.scaling import ScalingRule
from secant.schedules import Foellmer
from secant.targets.telescoping import LinearCombination, Telescoping, Waymarks
from secant.training.optimisers import Optimiser
from secant.training.settings import Training


@dataclass(eq=False, repr=False)
class TRE(PathMixin, RatioEstimator):
    """Telescoping ratio estimation (R1) [@rhodes2020telescoping]; one pass, the sum of all heads.

    Args:
        model: None is `TelescopingHeads()`, 8 bridges on a shared trunk. With
            `TelescopingHeads(trunk=QuadraticForms())` the heads have the form of the truth for
            Gaussians: label such results as an oracle form.
        waymarks: None is `LinearCombination()`; `DimensionMixing()` swaps column after column.
        path: of linear combinations; None is `DiffusionInterpolant(Foellmer())`.
        scaling: of the columns; None is `Standardise()`.
        optimiser: the update rule; None is `Adam()`.
        training: budget and batch; None is `Training()`.
        progress: a progress bar; None shows one on a terminal only.
        random_state: random seed.
    """

    model: TelescopingHeads | None = None
    _: KW_ONLY
    waymarks: Waymarks | None = None
    path: Path | None = None
    scaling: ScalingRule | None = None
    optimiser: Optimiser | None = None
    training: Training | None = None
    progress: bool | None = None
    random_state: int | np.random.RandomState | None = None

    def _method(self, n_rows: float, n_features: int) -> Method:
        del n_rows, n_features
        if not isinstance(self.model, TelescopingHeads | None):
            raise TypeError(f"`model` must be a TelescopingHeads or None; got {self.model!r}.")
        waymarks = LinearCombination() if self.waymarks is None else self.waymarks
        if not isinstance(waymarks, Waymarks):
            raise TypeError(f"`waymarks` must be a Waymarks or None; got {waymarks!r}.")
        return composed(
            self,
            model=TelescopingHeads(),
            path=DiffusionInterpolant(Foellmer()),
            target=Telescoping(waymarks),
        )
