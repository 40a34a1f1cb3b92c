"""Fits in a separate process: `python parallel_fits.py CASES FOLDER [PROCESS ADDRESS]`.

Run these fits on all devices, as one of two processes if PROCESS is given, and write the results to
`FOLDER/found-PROCESS.npz`.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import jax
import numpy as np

import secant
from secant.models import ResidualMLP, SpectralSecant
from secant.training import data_parallel, keeping_best_on_interrupt, loop

RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(0.0, 1.0, (1000, 3)), RNG.normal(0.5, 1.0, (800, 3))
WEIGHTS = RNG.uniform(0.5, 1.5, 1000)
ROWS = np.linspace(-2.0, 2.0, 60).reshape(20, 3)
BATCH = 96
TRUNK = ResidualMLP(width=16, depth=1)


def training(**settings):
    brief = {"steps": 20, "batch_size": BATCH, "warmup": 5, "evaluate_every": 10}
    return secant.Training(**{**brief, **settings})


def ratio(seed=0, *, progress=None, **settings):
    return secant.SecantRatio(
        SpectralSecant(4, trunk=TRUNK),
        scaling=secant.Standardise(),
        training=training(**settings),
        progress=progress,
        random_state=seed,
    )


def classifier():
    return secant.ClassifierRatio(trunk=TRUNK, training=training(), random_state=0)


def sampler(key, n):
    key_0, key_1 = jax.random.split(key)
    return jax.random.normal(key_0, (n, 3)), 0.5 + jax.random.normal(key_1, (n, 3))


def far_halves(process):
    """Half of the rows of each of two samples: the low ones of x_0 go with the high ones of x_1."""
    rng = np.random.default_rng(1)
    samples = [rng.normal(0.0, 1.0, (4000, 2)), rng.normal(0.8, 1.0, (4000, 2))]
    in_order = [x[np.argsort(sign * x.sum(1))] for x, sign in zip(samples, (1, -1), strict=True)]
    return samples if process is None else [np.array_split(x, 2)[process] for x in in_order]


def truth(x):
    """The log ratio of the samples of `far_halves`."""
    return 0.8 * x.sum(1) - 0.64


def long_classifier():
    settings = training(steps=200, evaluate_every=100, learning_rate=3e-3)
    return secant.ClassifierRatio(trunk=TRUNK, training=settings, random_state=0)


@contextmanager
def told_of_runs(note):
    """Within it, `note` is called with the arguments of every run of steps."""
    steps = loop.run_steps

    def noted(*arguments):
        note(*arguments)
        return steps(*arguments)

    loop.run_steps = noted
    try:
        yield
    finally:
        loop.run_steps = steps


@dataclass
class Fits:
    """The results of the fits of one process."""

    folder: Path
    process: int = 0
    found: dict = field(default_factory=dict)

    def keep(self, name, fitted, rows=ROWS):
        arrays = [leaf for leaf in jax.tree.leaves(fitted.model_) if isinstance(leaf, jax.Array)]
        self.found[f"{name}: weights"] = np.concatenate([np.ravel(leaf) for leaf in arrays])
        self.found[f"{name}: log ratio"] = fitted.log_ratio(rows)
        self.found[f"{name}: losses"] = [(r.loss, r.held_out) for r in fitted.history_[1:]]

    def told(self, name, fit):
        try:
            fit()
        except ValueError as error:
            self.found[name] = str(error)

    def mapped(self, name, rows):
        path = self.folder / f"{name}-{self.process}.npy"
        np.save(path, rows)
        return np.load(path, mmap_mode="r")

    def memory(self):
        self.keep("memory", ratio().fit_samples(X_0, X_1))

    def disk(self):
        rows = self.mapped("x_0", X_0), self.mapped("x_1", X_1)

        def noting(run, *rest):
            shards = run.source.x_0.addressable_shards
            self.found["disk: shapes"] = [shard.data.shape for shard in shards]

        with told_of_runs(noting):
            self.keep("disk", ratio().fit_samples(*rows))

    def weighted(self):
        self.keep("weighted", classifier().fit_samples(X_0, X_1, weight_0=WEIGHTS))

    def sampler(self):
        self.keep("sampler", classifier().fit_sampler(sampler))

    def program(self):
        """What is compiled for a step."""

        def noting(*arguments):
            compiled = steps.lower(*arguments).compile().compiled
            self.found["program"] = compiled.as_text()

        steps = loop.run_steps
        with told_of_runs(noting):
            ratio(steps=10).fit_samples(X_0, X_1)

    def odd_batch(self):
        self.told("odd batch", lambda: ratio(batch_size=97).fit_samples(X_0, X_1))

    def other_seed(self):
        self.told("other seed", lambda: ratio(seed=self.process).fit_samples(X_0, X_1))

    def checkpoints(self):
        """The second finds the finished training of the first."""
        folder = self.folder / "checkpoints"
        self.keep("first", ratio().fit_samples(X_0, X_1, resume=folder))
        self.keep("again", ratio(progress=True).fit_samples(X_0, X_1, resume=folder))

    def interrupted(self):
        """Only the last process is interrupted."""
        with keeping_best_on_interrupt() as wish:
            if self.process == 1:
                wish.set()
            fitted = ratio(progress=True).fit_samples(X_0, X_1)
        self.found["interrupted"] = [fitted.diagnostics_.status.name, fitted.diagnostics_.steps]

    def own_rows(self):
        halves = [self.mapped(f"half-{i}", x) for i, x in enumerate(far_halves(self.process))]
        rows = np.concatenate(far_halves(None))
        with data_parallel(own_rows=True):
            self.keep("own rows", long_classifier().fit_samples(*halves), rows)
            uneven = (halves[0][: 1600 + 400 * self.process], halves[1])
            self.told("uneven", lambda: ratio().fit_samples(*uneven))


def main(cases, folder, process=None, address=None):
    if process is not None:
        jax.distributed.initialize(address, num_processes=2, process_id=int(process))
    fits = Fits(Path(folder), int(process or 0))
    with data_parallel():
        for case in cases.split(","):
            getattr(fits, case)()
    np.savez(fits.folder / f"found-{fits.process}.npz", **fits.found)


if __name__ == "__main__":
    main(*sys.argv[1:])
