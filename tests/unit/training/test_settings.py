"""Training settings are checked where they are made."""

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


@pytest.mark.parametrize(
    ("settings", "looks"),
    [
        ({"steps": 45, "evaluate_every": 20}, [20, 40, 45]),
        ({"steps": 100, "evaluate_every": 40}, [40, 80, 100]),
        # From step 160 on, an eighth of the steps done is more than 20.
        ({"steps": 300, "evaluate_every": 20}, [*range(20, 181, 20), 202, 227, 255, 286, 300]),
    ],
)
def test_looks_get_rarer(settings, looks):
    training, step, found = Training(**settings), 0, []
    while step < training.steps:
        step += training.steps_to_next_look(step)
        found.append(step)
    assert found == looks
