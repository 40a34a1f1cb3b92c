"""Settings of the training loop."""

from __future__ import annotations

import equinox as eqx

__all__ = ["Training"]


class Training(eqx.Module):
    """How long and how fast to train.

    Attributes:
        steps: step budget.
        batch_size: rows of each sample a step.
        learning_rate: peak of the warm-up and cosine schedule.
        warmup: steps of linear warm-up.
        clip: global norm at which gradients are clipped.
        average: decay of the exponential moving average of the weights, which is what is kept.
        evaluate_every: steps between looks at the held-out loss.
        patience: looks without a better held-out loss before training stops; None never stops.
        validation_share: share of the rows held out (never trained on).
        validation_rows: at most this many rows are held out.
        max_seconds: wall-clock budget, compilation included; None for no limit.
    """

    steps: int = 6000
    batch_size: int = 512
    learning_rate: float = 1e-3
    warmup: int = 200
    clip: float = 1.0
    average: float = 0.999
    evaluate_every: int = 250
    patience: int | None = 8
    validation_share: float = 0.1
    validation_rows: int = 8192
    max_seconds: float | None = None

    def __check_init__(self) -> None:
        for name in ("steps", "batch_size", "warmup", "evaluate_every", "validation_rows"):
            if not float(getattr(self, name)).is_integer():
                raise ValueError(f"Training needs a whole {name}; got {getattr(self, name)}.")
        if self.warmup < 0:
            raise ValueError(f"Training needs warmup >= 0; got {self.warmup}.")
        positive = ("steps", "batch_size", "learning_rate", "clip", "evaluate_every")
        for name in (*positive, "validation_rows"):
            if not getattr(self, name) > 0:  # so that NaN is refused too
                raise ValueError(f"Training needs {name} > 0; got {getattr(self, name)}.")
        if not 0.0 < self.validation_share < 1.0:
            raise ValueError(f"validation_share must lie in (0, 1); got {self.validation_share}.")
        if not 0.0 <= self.average < 1.0:
            raise ValueError(f"average must lie in [0, 1); got {self.average}.")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be None or at least 1; got {self.patience}.")
        if self.max_seconds is not None and self.max_seconds <= 0.0:
            raise ValueError(f"max_seconds must be None or positive; got {self.max_seconds}.")

    @property
    def of_a_step(self) -> Training:
        """What a single step depends on, all else at its default.

        Settings are part of the compiled program: fits that differ in patience share one.
        """
        return Training(
            steps=self.steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            warmup=self.warmup,
            clip=self.clip,
            average=self.average,
        )
