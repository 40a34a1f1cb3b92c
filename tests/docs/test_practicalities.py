"""The guide to numbers, threads and processes, run as it stands."""

import pytest
from tests.docs.guides import run, text_of

from secant import exceptions


def test_the_page_runs():
    assert "together" in run("practicalities.md")


@pytest.mark.parametrize(
    "name", ["ConstantColumnWarning", "OutlierWarning", "PrecisionWarning", "DivergenceWarning"]
)
def test_the_warnings_of_the_page_exist(name):
    assert name in text_of("practicalities.md")
    assert name in exceptions.__all__
