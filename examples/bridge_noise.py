"""The rate of a bridge's noise.

The bridge's noise scale contains ε, and so must its rate. Without it the rate is unbounded at both
ends, and it is not the derivative of the path.
"""

import sys

import jax
import matplotlib.pyplot as plt
import numpy as np

from secant.paths import DiffusionBridge
from secant.schedules import Linear

path = DiffusionBridge(Linear(), gamma=1.0, epsilon=0.05)
t = np.linspace(1e-4, 1.0 - 1e-4, 1000)
scale, rate = jax.jvp(path.noise_scale, (t,), (np.ones_like(t),))
published = path.gamma * (1.0 - 2.0 * t) / (2.0 * np.sqrt(t * (1.0 - t)))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(t, scale, label="noise scale")
left.set(xlabel="t")
left.legend(frameon=False)
right.plot(t, rate, label="its derivative")
right.plot(t, published, "--", label="as published, without ε")
right.set(xlabel="t", ylim=(-4, 4))
right.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "bridge_noise.png", dpi=110)
