"""The correlation of the Gaussian blocks.

Mutual information of d columns in correlated pairs. At the stated ρ = 0.5 it is less than a third
of the stated d/4 nats; the correlation with half a nat per pair gives exactly d/4.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from secant.datasets import block_gaussians
from secant.datasets.gaussians import RHO_HALF_NAT

STATED = np.array([40, 80, 120, 160])
d = np.arange(2, 162, 2)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(STATED, STATED / 4.0, "ko", label="stated: d/4")
for rho, color in ((0.5, "C1"), (RHO_HALF_NAT, "C0")):
    exact = [block_gaussians(int(n), rho).kl for n in d]
    left.plot(d, exact, color, label=f"exact, ρ = {rho:.4f}")
left.set(xlabel="columns d", ylabel="mutual information, nats")
left.legend(frameon=False)
rho = np.linspace(0.0, 0.95, 200)
right.plot(rho, -0.5 * np.log1p(-(rho**2)), "k")
right.axhline(0.5, color="grey", linestyle=":", linewidth=0.8)
for at, color in ((0.5, "C1"), (RHO_HALF_NAT, "C0")):
    nats = block_gaussians(2, at).kl
    right.plot(at, nats, "o", color=color, label=f"ρ = {at:.4f}: {nats:.4f} nats")
right.set(xlabel="correlation ρ", ylabel="nats a pair")
right.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "block_correlation.png", dpi=110)
