"""Benchmarks in one process with the other tests."""

import jax
import pytest


@pytest.fixture(autouse=True)
def _keep_compiled_programs(monkeypatch):
    """A sweep clears them between fits; here the next test would only compile them again."""
    monkeypatch.setattr(jax, "clear_caches", lambda: None)
