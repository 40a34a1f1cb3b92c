"""The families' truths, against averages of log ratios in closed form and second ways."""

import math

import jax
import numpy as np
import pytest
from scipy.stats import norm

from secant_bench.information.families import (
    category_information,
    families,
    heteroscedastic_information,
    interaction_information,
    multiplicative_information,
    sign_flip_information,
)

N = 400_000


def drawn(name, n=N):
    task = next(t for t in families() if t.name == name)
    x, y = task.sample(jax.random.key(0), n)
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), task


def check(log_ratio, truth):
    error = log_ratio.std() / math.sqrt(log_ratio.size)
    assert truth == pytest.approx(log_ratio.mean(), abs=4 * error)
    assert error < 0.005


def test_there_are_ten_and_their_rows_have_their_shapes():
    assert len({task.name for task in families()}) == 10
    for task in families():
        x, y = task.sample(jax.random.key(1), 7)
        assert (x.shape, y.shape) == ((7, task.dim_x), (7, task.dim_y))
        assert 0.1 < task.mutual_information < 2.0


def test_sign_flips():
    x, y, task = drawn("sign-flips")
    spread = math.sqrt(1 - 0.64)
    plus, minus = (norm.logpdf(y, s * x, spread).sum(axis=1) for s in (0.8, -0.8))
    margin = norm.logpdf(y).sum(axis=1)
    check(np.logaddexp(plus, minus) - math.log(2.0) - margin, task.mutual_information)


def test_a_category_and_a_number():
    x, y, task = drawn("category-and-number")
    code, y = x[:, 0].astype(int), y[:, 0]
    parts = [norm.pdf(y, m, s) for m, s in ((0.0, 1.0), (2.0, 0.5), (-1.5, 1.5))]
    mixture = 0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2]
    own = np.choose(code, parts)
    check(np.log(own / mixture), task.mutual_information)


def binned_entropy(y, edges):
    """Of a histogram that is fine beside the density."""
    counts, _ = np.histogram(y, edges)
    share = counts / counts.sum()
    width = np.diff(edges)
    some = share > 0
    return -float(np.sum(share[some] * np.log(share[some] / width[some])))


def test_interaction_by_a_histogram_of_y():
    _, y, task = drawn("interaction-3x1")
    entropy = binned_entropy(y, np.linspace(-20, 20, 801))
    noise = 0.5 * math.log(2 * math.pi * math.e * 0.25)
    assert task.mutual_information == pytest.approx(entropy - noise, abs=0.006)


def test_heteroscedastic_by_a_histogram_of_the_logarithm():
    _, y, task = drawn("heteroscedastic")
    size = np.log(np.abs(y))
    entropy = math.log(2.0) + binned_entropy(size, np.linspace(-16, 8, 601)) + size.mean()
    noise = 0.5 * math.log(2 * math.pi * math.e)
    assert task.mutual_information == pytest.approx(entropy - noise, abs=0.006)


def test_multiplicative_by_a_histogram_of_the_logarithm():
    _, y, task = drawn("multiplicative")
    entropy = binned_entropy(np.log(np.abs(y)), np.linspace(-20, 6, 601))
    noise = 0.5 * math.log(2 * math.pi * math.e * 0.25)
    assert task.mutual_information == pytest.approx(math.log(2) + entropy - noise, abs=0.006)


def test_no_dependence_is_no_information():
    assert heteroscedastic_information(0.0) == pytest.approx(0.0, abs=1e-6)
    assert sign_flip_information(1e-6) == pytest.approx(0.0, abs=1e-6)


def test_little_noise_is_much_information():
    assert multiplicative_information(0.05) > multiplicative_information(0.5) + 2.0
    assert interaction_information(0.7, 0.05) > interaction_information(0.7, 0.5) + 1.5
    assert category_information() > 0.3
