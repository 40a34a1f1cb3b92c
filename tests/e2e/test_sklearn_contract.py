"""scikit-learn's own checks on configured estimators."""

from dataclasses import replace
from functools import partial

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import registry, tiny

from secant import KernelRatio, SecantRatio, SklearnRatio
from secant.integration import Trapezoid

# The checks fit on twenty rows of noise, where a ratio has every reason to complain of overlap.
pytestmark = [
    pytest.mark.filterwarnings("ignore::secant.exceptions.OverlapWarning"),
    pytest.mark.filterwarnings("ignore::secant.exceptions.ClippedRatioWarning"),
    # Of noise there is nothing to learn.
    pytest.mark.filterwarnings("ignore::secant.exceptions.UntrainedWarning"),
]

TRAINING = replace(tiny.TRAINING, steps=10, batch_size=16, evaluate_every=10)
TINY = {"training": TRAINING, "random_state": 0}
LONGER = {"training__steps": 300, "training__learning_rate": 0.01, "training__warmup": 10}
FEW = {"rule": Trapezoid(3)}

PLAIN = registry.new("secant ratio", anchor=True, training=TRAINING)
SETTINGS = {"DRE-∞, joint": FEW, "D3RE, optimal transport": FEW, "CTSM-v": FEW}
CONFIGURED = {
    name: registry.new(name, training=TRAINING, **SETTINGS.get(name, {}))
    for name in (
        "secant ratio, no anchor",
        "secant ratio, student",
        "secant ratio, aligned",
        "ISA-DRE",
        "ISA-DRE, STS",
        "classifier, nce",
        "classifier, infonce",
        "DRE-∞, joint",
        "D3RE, optimal transport",
        "CTSM-v",
        "TRE",
    )
}

# One method along a path and one direct loss; `make test-slow` runs the others, which take long to
# compile and share this code.
QUICK = {"secant ratio, no anchor", "classifier, nce"}

# Refused on purpose: which of the labels 1 and 2 is p_0 would be a guess, and the wrong guess
# negates the answer. `test_checks_that_need_other_labels` runs the same checks relabelled.
_LABELS = "feeds other labels than 0 and 1; fit takes 0 for p_0 and 1 for p_1 only"
OTHER_LABELS = {
    "check_estimators_dtypes": _LABELS,
    "check_sample_weights_not_an_array": _LABELS,
    "check_sample_weights_pandas_series": _LABELS,
    "check_sample_weights_shape": _LABELS,
    "check_sample_weights_not_overwritten": _LABELS,
    "check_fit2d_1feature": _LABELS,
    "check_classifier_data_not_an_array": _LABELS,
    "check_classifiers_classes": _LABELS,
}

# Batches, held-out rows, folds and centres are drawn by row, so that a row of weight 2 equals two
# rows in expectation only. Tests of `sample_weight` in `tests/laws` and `tests/unit`
# hold it to that.
EXPECTED = OTHER_LABELS | {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn at random in a fit"
}


@pytest.fixture(scope="module", autouse=True)
def _quick_compilation():
    """Compile without optimisations, because compilation is nearly all of the time."""
    name = "jax_disable_most_optimizations"
    before = jax.config.values[name]
    jax.config.update(name, val=True)
    with jax.default_prng_impl("unsafe_rbg"):
        yield
    jax.config.update(name, before)


@parametrize_with_checks([PLAIN], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def _other_configurations():
    """Every configuration × every check, without repetitions of those in PLAIN.

    Labels and rows are checked by the base class, and data of other widths need other programs.
    """
    of_other_widths = {
        "check_n_features_in_after_fitting",  # 4 columns
        "check_positive_only_tag_during_fit",  # 4
        "check_dtype_object",  # 10
        "check_sample_weight_equivalence_on_dense_data",  # 30
    }
    for label, estimator in CONFIGURED.items():
        for _, check in estimator_checks.estimator_checks_generator(estimator):
            name = check.func.__name__
            if name not in {*of_other_widths, *OTHER_LABELS}:
                marks = [] if label in QUICK else [pytest.mark.slow]
                # Which asks for an accuracy of 0.83.
                trained = name == "check_classifiers_train"
                fitted = clone(estimator).set_params(**LONGER) if trained else estimator
                yield pytest.param(fitted, check, id=f"{label}-{name}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(_other_configurations()))
def test_scikit_learn_checks_of_other_configurations(estimator, check):
    check(estimator)


class _AnyLabels:
    """Accepts any two labels, the lower one for p_0, as the checks above need."""

    def fit(self, X, y, sample_weight=None):
        self.labels_, labels = np.unique(np.asarray(y), return_inverse=True)
        return super().fit(X, labels, sample_weight)

    @property
    def classes_(self):
        return self.labels_

    def predict(self, X):
        return self.labels_[super().predict(X)]


class _Relabelled(_AnyLabels, SecantRatio):
    pass


@pytest.mark.parametrize("name", OTHER_LABELS)
def test_checks_that_need_other_labels(name):
    check = partial(getattr(estimator_checks, name), "_Relabelled")
    check(_Relabelled(tiny.MODEL, **TINY))


# Without anything to compile, every check runs on every configuration.
DIRECT = [
    KernelRatio(random_state=0),
    KernelRatio("rulsif", alpha=0.1, iterations=2, random_state=0),
    KernelRatio("kulsif", n_centers=20, selection=3, random_state=0),
    KernelRatio("kliep", n_centers=10, bandwidth=[1.0, 2.0], random_state=0),
    *map(registry.new, ["scikit-learn", "scikit-learn, forest"]),
    *map(registry.new, ["signed kernels", "calibrated kernels", "bootstrapped kernels"]),
]


@parametrize_with_checks(DIRECT, expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks_of_direct_estimators(estimator, check):
    check(estimator)


class _RelabelledKernel(_AnyLabels, KernelRatio):
    pass


class _RelabelledSklearn(_AnyLabels, SklearnRatio):
    pass


@pytest.mark.parametrize("name", OTHER_LABELS)
@pytest.mark.parametrize("kind", [_RelabelledKernel, _RelabelledSklearn])
def test_checks_of_direct_estimators_that_need_other_labels(kind, name):
    check = partial(getattr(estimator_checks, name), kind.__name__)
    check(kind(random_state=0))
