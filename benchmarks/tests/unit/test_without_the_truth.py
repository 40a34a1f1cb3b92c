"""Nothing is chosen by the truth, and what has its form says so (erratum 7)."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from secant import ClassifierRatio, Training
from secant.datasets import block_gaussians
from secant.models import QuadraticForms, ResidualMLP
from secant_bench import Budget, Task
from secant_bench.suites import SUITES, ablation, frame, gaussian_mi

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"
ALL = {
    **SUITES,
    "paper-gaussian-mi": lambda: gaussian_mi.suite(Budget.SMALL),
    "paper-ablation": lambda: ablation.suite(Budget.SMALL),
    "paper-frame": lambda: frame.suite(Budget.SMALL),
}
LABELS = {"QuadraticForms(": "oracle form", "quadratic=True": "quadratic"}


def unlabelled(described):
    """Of (method, configuration), those with a form of the truth's that their name hides."""
    return [
        method
        for method, config in described
        for form, label in LABELS.items()
        if form in config and label not in method
    ]


def overfitting(steps=120):
    training = Training(steps=steps, batch_size=64, evaluate_every=20, warmup=5, patience=None)
    training = replace(training, learning_rate=1e-2, average=0.0)
    return ClassifierRatio(trunk=ResidualMLP(32, depth=1), training=training, random_state=0)


def test_a_fit_is_the_same_whatever_is_said_to_be_true():
    told = block_gaussians(4)
    lied_to = replace(told, kl=123.0, log_ratio=lambda x: 0.0 * x[:, 0])
    rows = np.random.default_rng(0).normal(size=(20, 4))
    first, second = (
        Task(pair, n_rows=300).fit(overfitting(steps=40), 0).log_ratio(rows)
        for pair in (told, lied_to)
    )
    np.testing.assert_array_equal(first, second)


def test_the_kept_state_is_that_of_the_lowest_held_out_loss():
    fitted = Task(block_gaussians(4), n_rows=300).fit(overfitting(), 0)
    history = fitted.history_
    best = min(history, key=lambda record: record.held_out)
    assert 0 < best.step < history[-1].step  # so that there was something to choose
    assert fitted.diagnostics_.best_step == best.step


@pytest.mark.parametrize("name", ALL)
def test_what_has_the_form_of_the_truth_is_labelled(name):
    entries = {entry.method: entry.make for entry in ALL[name]().entries}
    assert unlabelled((method, repr(make(0))) for method, make in entries.items()) == []


def test_rows_with_the_form_of_the_truth_are_labelled():
    lines = [line for path in RESULTS.glob("*.jsonl") for line in path.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    described = [(row["method"], row.get("config") or "") for row in rows]
    assert any("QuadraticForms(" in config for _, config in described)
    assert unlabelled(described) == []


def test_a_hidden_form_is_seen():
    hidden = repr(ClassifierRatio(trunk=QuadraticForms()))
    assert unlabelled([("TRE", hidden), ("TRE, oracle form", hidden)]) == ["TRE"]
