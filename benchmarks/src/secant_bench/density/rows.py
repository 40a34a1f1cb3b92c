"""One density estimate as a flat row."""

from __future__ import annotations

from dataclasses import dataclass

from secant_bench.rows import Run, aligned

__all__ = ["DensityRow"]


@dataclass(frozen=True)
class DensityRow(Run):
    """The result of one method on test rows, in nats per row.

    `nll` is normalised: log Ẑ is added; it is also given with its standard error. `truth` is the
    negative log likelihood of the true density on the same test rows. `nll_spread` is for test rows
    after noise is added to columns with atoms, over the gaps between their values (N4): a density
    with spikes at the atoms has a larger NLL there.
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
    peak_mib: int | None = None  # of the whole process, which may run other fits

    @property
    def is_doubtful(self) -> bool:
        """Whether the normaliser is unreliable; the row stores the reason."""
        return "(" in self.normalised_by

    @property
    def numbers(self) -> str:
        """The likelihood and the normaliser."""
        return (
            f"x{self.evaluations:<3d} nll {aligned(self.nll)} ± {aligned(self.nll_error)}"
            f" truth {aligned(self.truth)} log Z {aligned(self.log_normalizer)}"
            f" ± {aligned(self.log_normalizer_error)} {aligned(self.seconds)} s"
            f" {self.peak_mib} MiB"
        )
