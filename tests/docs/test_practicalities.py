"""The guide to numbers, threads and processes, run as it stands."""

import jax
import pytest
from tests.docs.guides import run, text_of

from secant import exceptions
from secant._host.jax_process import SETTINGS


@pytest.fixture
def settings_of_jax():
    """Restore the settings that the page changes for the whole process."""
    names = ("jax_compilation_cache_dir", *SETTINGS)
    before = {name: getattr(jax.config, name) for name in names}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


@pytest.mark.usefixtures("settings_of_jax")
def test_the_page_runs():
    assert "together" in run("practicalities.md")


@pytest.mark.parametrize(
    "name", ["ConstantColumnWarning", "OutlierWarning", "PrecisionWarning", "DivergenceWarning"]
)
def test_the_warnings_of_the_page_exist(name):
    assert name in text_of("practicalities.md")
    assert name in exceptions.__all__
