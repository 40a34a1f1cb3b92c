"""One density estimate as a flat row."""

from __future__ import annotations

from dataclasses import dataclass

from secant_bench.rows import Run, aligned

__all__ = ["DensityRow"]


@dataclass(frozen=True)
class DensityRow(Run):
    """What one method says of rows it has not seen, in nats a row.

    `nll` is normalised: log Ẑ is added, and stands beside it with its standard error. `truth` is
    the negative log likelihood of the true density on the same test rows. `nll_spread` is of test
    rows whose columns with atoms are spread over the gaps between their values (N4): a density that
    had raised the likelihood on those values would lose it again there.
    """

    evaluations: int = 1
    n_rows: int | None = None
    nll: float | None = None
    nll_error: float | None = None
    nll_spread: float | None = None
    truth: float | None = None
    log_normalizer: float | None = None
    log_normalizer_error: float | None = None
    normalised_by: str = ""
    seconds: float | None = None
    peak_mib: int | None = None  # of the whole process: alone in it, of this fit

    @property
    def is_doubtful(self) -> bool:
        """Whether the normaliser is unreliable; the reason is kept."""
        return "(" in self.normalised_by

    @property
    def numbers(self) -> str:
        """Likelihood and normaliser."""
        return (
            f"x{self.evaluations:<3d} nll {aligned(self.nll)} ± {aligned(self.nll_error)}"
            f" truth {aligned(self.truth)} log Z {aligned(self.log_normalizer)}"
            f" ± {aligned(self.log_normalizer_error)} {aligned(self.seconds)} s"
            f" {self.peak_mib} MiB"
        )
