"""How wide a network, how large a batch and how many steps, by rows and columns.

Few rows cannot tell a wide network from a narrow one, which is several times as fast; and of few
rows more are held out, to choose the state to keep by.
"""

from __future__ import annotations

from secant.models.networks import ResidualMLP
from secant.training.settings import Training

__all__ = ["FEW_ROWS", "training_for", "trunk_for"]

FEW_ROWS = 5_000
_MANY_ROWS = 50_000
_MANY_COLUMNS = 20


def trunk_for(n_rows: float, n_features: int) -> ResidualMLP:
    """The network for the smaller sample's number of rows, and the number of columns."""
    if n_rows < FEW_ROWS:
        return ResidualMLP(width=64)
    if n_rows < _MANY_ROWS and n_features <= _MANY_COLUMNS:
        return ResidualMLP(width=128)
    return ResidualMLP(width=256)


def training_for(n_rows: float, n_features: int) -> Training:
    """Budget and batch for the same."""
    if n_rows < FEW_ROWS:
        return Training(steps=2000, batch_size=256)
    if n_rows < _MANY_ROWS and n_features <= _MANY_COLUMNS:
        return Training(steps=4000, batch_size=256)
    return Training()
