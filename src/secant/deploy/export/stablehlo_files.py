"""StableHLO files: programs as `jax.export` writes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from secant._host.atomic_files import write_atomically
from secant.deploy.export.exported import Exported, checked_dtype, checked_export, program_of
from secant.deploy.export.programs import ExportError, n_rows
from secant.estimators import RatioEstimator
from secant.tasks import DensityEstimator

if TYPE_CHECKING:
    from secant.tables.encoding import Encoding


_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def export_stablehlo(
    estimator: RatioEstimator | DensityEstimator,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float64",
    encoding: Encoding | None = None,
) -> Exported:
    """Write the one-pass log ratio, or the log density, with its scaling as StableHLO.

    `jax.export.deserialize` reads the file in any process that has JAX, without secant.

    Args:
        estimator: fitted.
        path: of the file; an older file is replaced once the new one is complete.
        dtype: of rows and answers: "float64" or "float32".
        encoding: of tables as the model's columns, for their names in the returned summary; the
            file has no place for it.

    Raises:
        ExportError: If a part of the estimator cannot be exported.
    """
    kind, program = checked_dtype(dtype), program_of(estimator)
    n = n_rows()
    with jax.enable_x64(True):
        rows = jax.ShapeDtypeStruct((n, program.n_features), kind)
        answer = jax.jit(program.whole(n))
        data = bytes(jax.export.export(answer, platforms=_PLATFORMS)(rows).serialize())
    names = None if encoding is None else encoding.names
    found = checked_export(estimator, program, kind, len(data), _callable(data), names)
    write_atomically(Path(path), data)
    return found


def load_stablehlo(
    path: str | os.PathLike[str],
) -> Callable[[ArrayLike], Float[np.ndarray, " n"]]:
    """The function in a file of `export_stablehlo`: rows (n, d) to answers (n,).

    Load only files from sources you trust: JAX compiles and runs their contents.

    Raises:
        ExportError: If it is not such a file.
    """
    return _callable(Path(path).read_bytes(), str(path))


def _callable(
    data: bytes, name: str = "the program"
) -> Callable[[ArrayLike], Float[np.ndarray, " n"]]:
    try:
        exported = jax.export.deserialize(bytearray(data))
        (rows,) = exported.in_avals
    except Exception as error:  # the reader of the format has no specific error
        raise ExportError(f"{name} is not a file of `export_stablehlo`.") from error

    def answer(x: ArrayLike) -> Float[np.ndarray, " n"]:
        given = np.asarray(x, dtype=rows.dtype)
        if given.shape[0] == 0:  # which programs of `jax.export` do not accept
            return np.zeros(0, dtype=rows.dtype)
        with jax.enable_x64(True):  # otherwise JAX would convert the rows to single precision
            return np.asarray(exported.call(given))

    return answer
