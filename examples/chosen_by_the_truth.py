"""Selection by the truth.

A classifier learns the mutual information of twenty columns from few rows. With a plain network the
estimate passes the truth and continues; selecting the checkpoint by the truth stops it there, while
the held-out loss selects another one. A network with the Gaussian form hardly deviates.
"""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax

from secant.datasets import block_gaussians
from secant.models import QuadraticForms, ResidualMLP

D, EACH, LOOKS = 20, 5, 50
pair = block_gaussians(D)
keys = jax.random.split(jax.random.key(0), 3)
rows, held_out = pair.sample(keys[0], 2000), pair.sample(keys[1], 4000)


def loss(network, x_0, x_1):
    """The logistic loss (D0)."""
    on_0, on_1 = (jax.vmap(network)(x)[:, 0] for x in (x_0, x_1))
    return jnp.mean(jax.nn.softplus(on_0)) + jnp.mean(jax.nn.softplus(-on_1))


def history(network, rate):
    """Held-out loss and estimate after every few steps on all rows."""
    optimiser = optax.adam(rate)

    def look(carry, _):
        for _ in range(EACH):
            change, state = optimiser.update(jax.grad(loss)(carry[0], *rows), carry[1])
            carry = eqx.apply_updates(carry[0], change), state
        return carry, (loss(carry[0], *held_out), jax.vmap(carry[0])(held_out[1]).mean())

    return jax.lax.scan(look, (network, optimiser.init(network)), length=LOOKS)[1]


figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
kinds = {"a plain network": (ResidualMLP(64, 1), 3e-3), "Gaussian form": (QuadraticForms(), 2e-2)}
steps = EACH * np.arange(1, LOOKS + 1)
for panel, (name, (trunk, rate)) in zip(axes, kinds.items(), strict=True):
    losses, estimates = map(np.asarray, history(trunk.build(D, 1, key=keys[2]), rate))
    panel.plot(steps, estimates, color="grey")
    panel.axhline(pair.kl, color="k", linestyle="--", label="truth")
    for how, score, mark in (("loss", losses, "C0o"), ("truth", abs(estimates - pair.kl), "C1s")):
        at = score.argmin()
        panel.plot(steps[at], estimates[at], mark, label=f"chosen by {how}: {estimates[at]:.2f}")
    panel.set(xlabel="steps", title=name)
    panel.legend(frameon=False)
axes[0].set(ylabel="mutual information, nats")
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "chosen_by_the_truth.png", dpi=110)
