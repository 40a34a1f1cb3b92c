"""The velocity-form step in eager PyTorch, to compare its time with ours.

PyTorch is an extra (`torch`) and is passed as an argument, so that this module imports without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["velocity_step"]


def velocity_step(
    torch: ModuleType, *, width: int, depth: int, order: int, batch: int, d: int
) -> Callable[[], None]:
    """One training step of a spectral secant by (V1): draw, JVP, backward, clip, Adam, average."""
    generator = torch.Generator().manual_seed(0)
    sizes = [(d, width)] + [(width, width)] * depth
    weights = [
        (torch.randn(i, o, generator=generator) * math.sqrt(2.0 / i)).requires_grad_()
        for i, o in sizes
    ]
    weights.append(torch.zeros(width, order).requires_grad_())
    biases = [torch.zeros(w.shape[1]).requires_grad_() for w in weights]
    parameters = weights + biases
    average = [p.detach().clone() for p in parameters]
    optimiser = torch.optim.Adam(parameters, lr=1e-3)
    data = torch.randn(2, 20_000, d, generator=generator)
    silu = torch.nn.functional.silu

    def coefficients(x: Any) -> Any:  # noqa: ANN401 -- torch is not a dependency
        h = silu(x @ weights[0] + biases[0])
        for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
            h = h + silu(h @ weight + bias)
        return h @ weights[-1] + biases[-1]

    def basis(t: Any) -> Any:  # noqa: ANN401 -- torch is not a dependency
        y = 2.0 * t - 1.0
        values = [torch.ones_like(y), y]
        for k in range(1, order - 1):
            values.append(((2 * k + 1) * y * values[k] - k * values[k - 1]) / (k + 1))
        return torch.stack([math.sqrt(2 * k + 1) * v for k, v in enumerate(values)], dim=-1)

    def step() -> None:
        rows = torch.randint(0, data.shape[1], (2, batch), generator=generator)
        x_0, x_1 = data[0][rows[0]], data[1][rows[1]]
        t = torch.rand(batch, generator=generator)
        angle = 0.5 * math.pi * t[:, None]
        x_t = torch.cos(angle) * x_0 + torch.sin(angle) * x_1
        velocity = 0.5 * math.pi * (torch.cos(angle) * x_1 - torch.sin(angle) * x_0)
        at = basis(t)
        value, along = torch.func.jvp(lambda x: (coefficients(x) * at).sum(-1), (x_t,), (velocity,))
        loss = (value**2 - 2.0 * along).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        with torch.no_grad():
            for kept, parameter in zip(average, parameters, strict=True):
                kept.lerp_(parameter, 0.001)

    return step
