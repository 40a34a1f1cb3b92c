"""Programs of densities: a chart, a ratio in its coordinates, and the reference there."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from secant.bases import (
    Affine,
    Chain,
    Chart,
    GaussianMixtureReference,
    MonotoneSpline,
    NormalMargins,
    Reference,
)
from secant.bases.margins import Segment
from secant.deploy.export.programs import ExportError, Inputs, Program
from secant.deploy.export.ratios import ColumnTables, filled_up, ratio_program
from secant.tasks import DensityEstimator

Rows = Float[Array, "n d"]
Values = Float[Array, " n"]


def density_program(estimator: DensityEstimator) -> Program:
    """log p = log r̂ + log p_0 − log Ẑ as a program.

    Raises:
        ExportError: If a part of the density cannot be exported.
    """
    spread = np.flatnonzero(estimator.dequantisation_.gaps)
    if spread.size:
        raise ExportError(
            f"the dequantisation of {spread.size} column(s) cannot be exported: it adds random "
            "noise to the rows, which an exported program cannot draw. Add the noise to the rows "
            "yourself, and fit with dequantise=None."
        )
    ratio, base = ratio_program(estimator.ratio_), estimator.base_
    log_normaliser, network = estimator.log_normalizer_, ratio.network

    def prepare(x: Rows) -> Inputs:
        y, log_volume = _charted(base.chart, x)
        y = y.astype(np.float32).astype(np.float64)  # a ratio is learned on rows in float32
        inner = ratio.prepare(y)
        offset = log_volume - log_normaliser
        return Inputs((*inner.inputs, y), offset if inner.offset is None else offset + inner.offset)

    def total(*inputs: Rows) -> Values:
        *own, y = inputs
        rest = _log_prob(base.reference, y)
        return rest if network is None else network(*own) + rest

    return Program("log_density", estimator.n_features_in_, prepare, total)


def _log_prob(reference: Reference, y: Rows) -> Values:
    if isinstance(reference, GaussianMixtureReference):  # the model's own method loops over rows
        return jax.nn.logsumexp(reference.log_terms(y), axis=-1)
    return reference.log_prob(y)


class _Charted(NamedTuple):
    y: Rows
    log_volume: Values


def _charted(chart: Chart, x: Rows) -> _Charted:
    """T(x) and log |det ∂T/∂x| in float64."""
    if isinstance(chart, Affine):
        return _Charted(
            (x - chart.mean) @ chart.matrix, jnp.full(x.shape[0], chart.log_determinant, x.dtype)
        )
    if isinstance(chart, Chain):
        first = _charted(chart.first, x)
        second = _charted(chart.second, first.y)
        return _Charted(second.y, first.log_volume + second.log_volume)
    if isinstance(chart, NormalMargins):
        return _with_normal_margins(chart.splines, x)
    raise ExportError(f"the chart {type(chart).__name__} of the base cannot be exported.")


def _with_normal_margins(splines: tuple[MonotoneSpline, ...], x: Rows) -> _Charted:
    """(N1) for all columns at once: values, and the logarithms of their derivatives summed."""
    tables = ColumnTables.of([s.knots for s in splines])
    knots, levels, slopes = (
        filled_up([getattr(s, name) for s in splines]) for name in ("knots", "levels", "slopes")
    )
    k = tables.interval(x)
    (left, right), (low, high), (slope_left, slope_right) = (
        (tables.at(k, values), tables.at(k + 1, values)) for values in (knots, levels, slopes)
    )
    at = Segment(left, right - left, low, high - low, slope_left, slope_right)
    xi = (jnp.clip(x, knots[:, 0], knots[:, -1]) - left) / at.width
    below, above = jnp.minimum(x - knots[:, 0], 0.0), jnp.maximum(x - knots[:, -1], 0.0)
    return _Charted(
        low + at.rise(xi) + below * slopes[:, 0] + above * slopes[:, -1],
        jnp.sum(jnp.log(at.slope(xi)), axis=1),
    )
