"""From the paper to your data.

ISADRE on two samples. Left: the secant u(x, 0, t) and the time score s(x, t) of three rows along
the path. Right: the log ratio by one evaluation and by fifty against the truth.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import secant

rng = np.random.default_rng(0)
x_0, x_1 = rng.normal(size=(2000, 2)), rng.normal(1.0, 0.5, size=(2000, 2))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", secant.OverlapWarning)  # the samples hardly overlap
    model = secant.ISADRE(random_state=0).fit_samples(x_0, x_1)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
t = np.linspace(0.0, 1.0, 101)
for x, colour in zip(x_1[:3], ("C0", "C1", "C2"), strict=True):
    many = np.tile(x, (t.size, 1))
    left.plot(t, model.secant(many, 0.0, t), colour)
    left.plot(t, model.secant(many, t, t), colour, linestyle=":")
left.plot([], [], "k", label="secant u(x, 0, t)")
left.plot([], [], "k:", label="time score s(x, t)")
left.set(xlabel="t", ylabel="nats")
left.legend(frameon=False)

rows = np.concatenate([x_0[:300], x_1[:300]])
truth = (norm.logpdf(rows, 1.0, 0.5) - norm.logpdf(rows)).sum(axis=1)
for n_steps, marker in ((1, "."), (50, "x")):
    model.n_steps = n_steps
    label = f"{n_steps} evaluation{'s' if n_steps > 1 else ''}"
    right.plot(truth, model.log_ratio(rows), marker, markersize=4, alpha=0.6, label=label)
right.axline((0.0, 0.0), slope=1.0, color="0.5", linewidth=0.8)
right.set(xlabel="true log ratio", ylabel="learned")
right.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1], dpi=150)
