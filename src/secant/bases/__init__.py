"""Bases of a density estimate: densities p_0 in closed form, fitted to rows."""

from secant.bases.charts import Affine, Chain, Chart
from secant.bases.margins import MonotoneSpline, NormalMargins
from secant.bases.mixture_fit import Growth
from secant.bases.references import (
    FlowJAX,
    GaussianMixtureReference,
    Reference,
    SampledDensity,
    StandardNormalReference,
)
from secant.bases.rules import (
    Base,
    BaseRule,
    Copula,
    FullGaussian,
    Given,
    Mixture,
    StandardNormal,
)

__all__ = [
    "Affine",
    "Base",
    "BaseRule",
    "Chain",
    "Chart",
    "Copula",
    "FlowJAX",
    "FullGaussian",
    "GaussianMixtureReference",
    "Given",
    "Growth",
    "Mixture",
    "MonotoneSpline",
    "NormalMargins",
    "Reference",
    "SampledDensity",
    "StandardNormal",
    "StandardNormalReference",
]
