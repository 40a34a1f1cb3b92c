"""A fit in a separate process, to be stopped: `python resumed_fit.py KIND FOLDER MODEL`.

Prints a line before every chunk of steps, and "saved" at the end. The times of its record are set
to zero, so that the files of two fits are the same bytes if the fits are the same.
"""

import sys
from dataclasses import replace

import jax
import numpy as np

import secant
from secant.models import ResidualMLP, SpectralSecant, TangentNetwork
from secant.training import checkpointing, loop

TRUNK = ResidualMLP(width=16, depth=1)
SETTINGS = {
    "training": secant.Training(
        steps=300, batch_size=64, evaluate_every=10, patience=None, warmup=20
    ),
    "scaling": secant.Standardise(),
    "random_state": 0,
}
KINDS = {
    "one training": lambda: secant.ClassifierRatio(trunk=TRUNK, **SETTINGS),
    "two trainings": lambda: secant.SecantRatio(
        TangentNetwork(TRUNK, n_nodes=2),
        student=SpectralSecant(order=2, trunk=TRUNK),
        anchor=False,
        **SETTINGS,
    ),
}


def told(run_steps):
    def run(*arguments):
        print("chunk", flush=True)
        return run_steps(*arguments)

    return run


def main(kind, folder, model):
    jax.config.update("jax_disable_most_optimizations", val=True)
    checkpointing.__wrapped__.__kwdefaults__["every_seconds"] = 0.0  # a write after every chunk
    loop.run_steps = told(loop.run_steps)
    rng = np.random.default_rng(0)
    x_0, x_1 = rng.normal(0, 1, (300, 2)), rng.normal(0.5, 1, (300, 2))
    ratio = KINDS[kind]().fit_samples(x_0, x_1, resume=folder)
    ratio.diagnostics_ = replace(ratio.diagnostics_, seconds=0.0)
    ratio.history_ = tuple(record._replace(seconds=0.0) for record in ratio.history_)
    ratio.save(model)
    print("saved", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
