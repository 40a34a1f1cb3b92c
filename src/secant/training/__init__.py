"""Training: settings, sources of rows, the compiled loop and its record."""

from secant.training.checkpoint_files import CheckpointError
from secant.training.checkpoints import checkpointing
from secant.training.devices import data_parallel
from secant.training.history import Record, Status
from secant.training.interruption import keeping_best_on_interrupt
from secant.training.pairing import OptimalTransport, Pairing
from secant.training.settings import Training

__all__ = [
    "CheckpointError",
    "OptimalTransport",
    "Pairing",
    "Record",
    "Status",
    "Training",
    "checkpointing",
    "data_parallel",
    "keeping_best_on_interrupt",
]
