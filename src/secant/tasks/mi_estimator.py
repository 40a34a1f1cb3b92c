"""Mutual information behind the protocol of the `benchmark-mi` package."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from secant.tasks.mi_options import MIOptions
from secant.tasks.mi_result import MutualInformation
from secant.tasks.mutual_information import mutual_information

__all__ = ["MIEstimator"]


@dataclass(frozen=True)
class MIEstimator:
    """`estimate(x, y) -> float`, as benchmarks of mutual information call it.

    Attributes:
        options: how; the second opinion is left out by default, for nobody would see it.
        random_state: seed of everything random.

    Examples:
        >>> import numpy as np, secant
        >>> x = np.random.default_rng(0).normal(size=(400, 1))
        >>> estimator = secant.MIEstimator(MIOptions(correct=False, second_opinion=False))
        >>> bool(abs(estimator.estimate(x, -x[::-1])) < 0.1)
        True
    """

    options: MIOptions = field(default_factory=lambda: MIOptions(second_opinion=False))
    random_state: int | np.random.RandomState | None = 0

    def estimate(self, x: ArrayLike, y: ArrayLike) -> float:
        """I(x; y), a plain number."""
        return self.estimate_with_info(x, y).estimate

    def estimate_with_info(self, x: ArrayLike, y: ArrayLike) -> MutualInformation:
        """The whole result."""
        settings: dict[str, Any] = self.parameters()
        return mutual_information(x, y, random_state=self.random_state, **settings)

    def parameters(self) -> dict[str, object]:
        """The settings, by name."""
        return {each.name: getattr(self.options, each.name) for each in fields(self.options)}
