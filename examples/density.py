"""A two-dimensional density.

The base is a Gaussian; a network learns the ratio of the data to the base. The product is
normalised and can be sampled.
"""

import sys

import jax
import matplotlib.pyplot as plt
import numpy as np

import secant
from secant.datasets import toys

toy = next(toy for toy in toys() if toy.name == "moons")
rows = np.asarray(toy.draw(jax.random.key(0), 2000))
density = secant.DensityEstimator("gaussian", random_state=0).fit(rows)
print(density.normalizer_)

low, high = rows.min(axis=0) - 0.3, rows.max(axis=0) + 0.3
x, y = np.meshgrid(*(np.linspace(a, b, 160) for a, b in zip(low, high, strict=True)))
log_p = density.score_samples(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
drawn = density.sample(1500, random_state=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), sharex=True, sharey=True)
left.pcolormesh(x, y, np.exp(log_p), cmap="magma")
left.set_title("density")
right.scatter(*rows[:1500].T, s=2, label="data")
right.scatter(*drawn.T, s=2, label="drawn")
right.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "density.png", dpi=110)
