"""How `secant mi` estimates, whatever it estimates."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from secant.cli.estimators import Method, ratio_estimator, with_settings
from secant.cli.session import Session

if TYPE_CHECKING:
    from secant.tasks import MIOptions

__all__ = ["MISettings", "Unit"]


class Unit(enum.Enum):
    """Of information."""

    NATS = "nats"
    BITS = "bits"


@dataclass(frozen=True)
class MISettings:
    """What was asked for, apart from the columns."""

    method: Method
    unit: Unit
    confidence: float
    permutations: int
    correct: bool
    second_opinion: bool

    def options(self, n: int, session: Session) -> MIOptions:
        """For n rows, with the session's training."""
        from secant.tasks import MIOptions
        from secant.tasks.defaults import default_ratio

        plain = MIOptions(
            estimator=ratio_estimator(self.method, default_ratio(n), n, session),
            n_permutations=self.permutations,
            correct=self.correct,
            second_opinion=self.second_opinion,
            base=self.unit.value,
            confidence=self.confidence,
        )
        opinion = plain.path_entropy()
        if opinion is None:
            return plain
        return replace(plain, second_opinion=with_settings(opinion, n, session))
