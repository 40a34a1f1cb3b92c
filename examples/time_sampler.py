"""Times of the variance-importance sampler.

Times drawn with p(t) ∝ 1/Var of the conditional time score. Under the variance-preserving schedule
most are near t = 0, where there is no signal; a uniform floor covers the rest of the path.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from secant.paths import DiffusionInterpolant, Moments
from secant.schedules import Trigonometric, VariancePreserving
from secant.time_samplers import VarianceImportance

D = 40
moments = Moments(square_0=float(D), square_1=float(D), cross=0.0)
t = np.linspace(0.001, 0.999, 500)
figure, axes = plt.subplots(figsize=(6.5, 3.6))
for schedule in (VariancePreserving(), Trigonometric()):
    path = DiffusionInterpolant(schedule)
    low, high = path.conditional_time_range

    def variance(share, path=path, low=low, high=high):
        """Of (C1) at a share of the path's times."""
        return path.mean_conditional_variance(low + (high - low) * share, moments, D)

    for floor, style in ((1e-6, "--"), (0.25, "-")):
        sampler = VarianceImportance(floor).resolved(variance)
        name = type(schedule).__name__ + (", as published" if floor < 0.1 else ", with a floor")
        color = "C0" if isinstance(schedule, VariancePreserving) else "C1"
        axes.plot(t, sampler.density(t), style, color=color, label=name)
axes.set(xlabel="t", ylabel="density of drawn times", ylim=(0, 12))
axes.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "time_sampler.png", dpi=110)
