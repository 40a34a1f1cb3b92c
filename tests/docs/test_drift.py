"""docs/guides/drift.md, run as it stands."""

import pytest
from tests.docs.guides import run


@pytest.fixture(scope="module")
def page(optimised):
    return run("drift.md")


def test_older_patients_differ_most_in_blood_pressure(page):
    assert page["found"].p_value < 0.01
    assert page["found"].features[0].name == "bp"
    assert page["by_network"].features[0].name == "bp"


def test_integrated_gradients_add_up_to_the_divergence(page):
    columns = page["by_network"].features
    error = sum(c.gradient_error**2 for c in columns) ** 0.5
    assert page["total"] == pytest.approx(page["by_network"].divergence, abs=3.0 * error)


def test_the_detector_raises_the_alarm(page):
    assert any(page["alarms"])
