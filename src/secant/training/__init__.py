"""Training: settings, sources of rows, the compiled loop and its records."""

from secant.training.checkpoint_files import CheckpointError
from secant.training.checkpoints import checkpointing, keeping_best_on_interrupt
from secant.training.devices import data_parallel
from secant.training.optimisers import Adam, Optimiser
from secant.training.pairing import OptimalTransport, Pairing
from secant.training.settings import Record, Status, Training

__all__ = [
    "Adam",
    "CheckpointError",
    "OptimalTransport",
    "Optimiser",
    "Pairing",
    "Record",
    "Status",
    "Training",
    "checkpointing",
    "data_parallel",
    "keeping_best_on_interrupt",
]
