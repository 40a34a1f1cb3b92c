"""Training settings are checked where they are made."""

from dataclasses import replace

import pytest

from secant.training import Training

POSITIVE = ["steps", "batch_size", "learning_rate", "clip", "evaluate_every", "validation_rows"]


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("value", [0, -1])
def test_what_must_be_positive_is_named(name, value):
    with pytest.raises(ValueError, match=f"Training needs {name} > 0; got {value}"):
        Training(**{name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": float("nan")}, "Training needs learning_rate > 0; got nan"),
        ({"warmup": -1}, "Training needs warmup >= 0; got -1"),
        ({"steps": 10.5}, r"Training needs a whole steps; got 10\.5"),
        ({"validation_share": 0.0}, r"validation_share must lie in \(0, 1\); got 0.0"),
        ({"validation_share": 1.0}, r"validation_share must lie in \(0, 1\); got 1.0"),
        ({"average": 1.0}, r"average must lie in \[0, 1\); got 1.0"),
        ({"average": -0.1}, r"average must lie in \[0, 1\); got -0.1"),
        ({"patience": 0}, "patience must be None or at least 1; got 0"),
        ({"max_seconds": 0.0}, "max_seconds must be None or positive; got 0.0"),
    ],
)
def test_bad_shares_and_limits_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Training(**settings)


def test_limits_may_be_absent():
    training = Training(patience=None, max_seconds=None, average=0.0, steps=1)
    assert training.patience is None
    assert training.max_seconds is None


def test_equal_settings_are_equal():
    # The compiled loop is cached by them.
    assert Training(steps=5) == Training(steps=5)
    assert hash(Training(steps=5)) == hash(Training(steps=5))
    assert Training(steps=5) != Training(steps=6)


def test_a_step_depends_on_what_it_uses_only():
    plain = Training(steps=7, batch_size=3, learning_rate=0.1, warmup=1, clip=2.0, average=0.5)
    patient = replace(plain, patience=3, evaluate_every=9, max_seconds=1.0, validation_rows=5)
    assert plain.of_a_step == patient.of_a_step
    for name, value in (
        ("steps", 8),
        ("batch_size", 4),
        ("learning_rate", 0.2),
        ("warmup", 2),
        ("clip", 1.0),
        ("average", 0.9),
    ):
        changed = replace(plain, **{name: value}).of_a_step
        assert getattr(changed, name) == value
        assert changed != plain.of_a_step
