"""CTSM and DRE-∞ in eager PyTorch, like their authors' code, to compare speed.

PyTorch comes with the extra `torch`; the module imports without it.
"""

from __future__ import annotations

import abc
import math
import time
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from secant_bench.benchmark import Skipped

__all__ = ["TorchCTSM", "TorchDREInfinity"]

Rows = Float[np.ndarray, "n d"]
Tensor = Any  # torch is not a dependency

_NODES = 50
_CUT = 1e-3  # share of the path cut off at ends where the targets are unbounded


class _TorchScore(abc.ABC):
    """A time score s(x, t) by a plain network, integrated by the trapezoid rule.

    Args:
        steps: of Adam, with batch size 512 and learning rate 1e-3.
        width: of two hidden layers.
        max_seconds: time limit of the training.
        random_state: seed of all random numbers.
    """

    def __init__(
        self,
        steps: int = 3_000,
        width: int = 256,
        max_seconds: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.steps, self.width = steps, width
        self.max_seconds, self.random_state = max_seconds, random_state

    def fit_samples(self, x_0: Rows, x_1: Rows) -> Self:
        """Standardise both samples together, then train."""
        self._torch = _imported_torch()
        torch = self._torch
        both = np.concatenate([x_0, x_1])
        self._mean, self._scale = both.mean(axis=0), both.std(axis=0) + 1e-12
        rows = [torch.as_tensor(self._scaled(x)) for x in (x_0, x_1)]
        generator = torch.Generator().manual_seed(self.random_state or 0)
        self._network = _network(torch, x_0.shape[1], self.width, generator)
        parameters = list(self._network.parameters())
        optimiser = torch.optim.Adam(parameters, lr=1e-3)
        began = time.perf_counter()
        for _ in range(self.steps):
            first, second = (x[torch.randint(0, len(x), (512,), generator=generator)] for x in rows)
            loss = self._loss(first, second, generator)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            if self.max_seconds is not None and time.perf_counter() - began > self.max_seconds:
                break
        return self

    @abc.abstractmethod
    def _loss(self, x_0: Tensor, x_1: Tensor, generator: Tensor) -> Tensor:
        """The loss of one batch."""

    evaluations = _NODES  # network evaluations per row

    def log_ratio(self, X: Rows) -> Float[np.ndarray, " n"]:
        """∫ s(x, t) dt at fixed x."""
        torch = self._torch
        x = torch.as_tensor(self._scaled(X))
        times = np.linspace(_CUT, 1.0 - _CUT, _NODES)
        with torch.no_grad():
            scores = [self._score(x, torch.full((len(x),), t)).numpy() for t in times.tolist()]
        return np.asarray(np.trapezoid(np.stack(scores).astype(np.float64), times, axis=0))

    def _scaled(self, x: Rows) -> Float[np.ndarray, "n d"]:
        return ((x - self._mean) / self._scale).astype(np.float32)

    def _score(self, x: Tensor, t: Tensor) -> Tensor:
        return self._network(self._torch.cat([x, t[:, None]], dim=1))[:, 0]


class TorchDREInfinity(_TorchScore):
    """Time score matching, integrated by parts.

    J = 2 E_{p_0}[λ(0) s(x, 0)] − 2 E_{p_1}[λ(1) s(x, 1)] + E[2 ∂_t(λ s) + λ s²], ∂_t at fixed x, on
    x_t = √(1 − t²) x_0 + t x_1 (Föllmer) and with λ = 1 − t², as in its authors' code.
    """

    def _loss(self, x_0: Tensor, x_1: Tensor, generator: Tensor) -> Tensor:
        torch = self._torch
        t = torch.rand(len(x_0), generator=generator) * (1.0 - 2 * _CUT) + _CUT
        x_t = torch.sqrt(1.0 - t**2)[:, None] * x_0 + t[:, None] * x_1
        t = t.requires_grad_()
        weight = 1.0 - t**2
        weighted = weight * self._score(x_t, t)
        (slope,) = torch.autograd.grad(weighted.sum(), t, create_graph=True)
        inside = 2.0 * slope + weighted**2 / weight.detach()
        start = 2.0 * self._score(x_0, torch.zeros(len(x_0)))  # λ(0) = 1, and λ(1) = 0
        return (start + inside).mean()


class TorchCTSM(_TorchScore):
    """Conditional time score matching on the Brownian bridge between x_0 and x_1.

    x_t ~ N(μ_t, σ_t² I), μ = (1 − t) x_0 + t x_1, σ² = t(1 − t). The target is the time score given
    both ends, weighted by one over its variance.
    """

    def _loss(self, x_0: Tensor, x_1: Tensor, generator: Tensor) -> Tensor:
        torch = self._torch
        n, d = x_0.shape
        t = torch.rand(n, generator=generator) * (1.0 - 2 * _CUT) + _CUT
        variance = t * (1.0 - t)
        spread = torch.sqrt(variance)[:, None]
        noise = torch.randn(n, d, generator=generator)
        x_t = (1.0 - t)[:, None] * x_0 + t[:, None] * x_1 + spread * noise
        # With v = σ², v̇ = 1 − 2t: s = v̇/(2v) (‖ε‖² − d) + (x_1 − x_0)·ε / σ.
        growth = (1.0 - 2.0 * t) / (2.0 * variance)
        along = ((x_1 - x_0) * noise).sum(dim=1) / spread[:, 0]
        target = growth * ((noise**2).sum(dim=1) - d) + along
        size = 2.0 * d * growth**2 + ((x_1 - x_0) ** 2).sum(dim=1).mean() / variance
        return ((self._score(x_t, t) - target) ** 2 / size).mean()


def _imported_torch() -> Any:  # noqa: ANN401 -- torch is not a dependency
    try:
        import torch
    except ImportError:
        raise Skipped("PyTorch is not installed: pip install 'secant-bench[torch]'.") from None
    return torch


def _network(torch: Any, d: int, width: int, generator: Any) -> Any:  # noqa: ANN401
    layers = [
        torch.nn.Linear(d + 1, width),
        torch.nn.SiLU(),
        torch.nn.Linear(width, width),
        torch.nn.SiLU(),
        torch.nn.Linear(width, 1),
    ]
    for layer in layers[::2]:
        bound = 1.0 / math.sqrt(layer.in_features)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-bound, bound, generator=generator)
    return torch.nn.Sequential(*layers)
