"""ONNX files: a model that runs wherever an ONNX runtime does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from secant._host.atomic_files import write_atomically
from secant.deploy.export.checking import Exported, checked, checked_dtype, column_names, program_of
from secant.deploy.export.onnx_graphs import OPSET, ROWS, onnx_graph
from secant.estimators import RatioEstimator
from secant.tasks import DensityEstimator

if TYPE_CHECKING:
    from secant.tables.encoding import Encoding

__all__ = ["export_onnx"]

_IR_VERSION = 8  # of the file format: the one of the opset's time
_MEANINGS = {
    "log_ratio": "log p_1(x) - log p_0(x) of each row, in nats",
    "log_density": "log p(x) of each row, in nats per unit of the columns",
}


def export_onnx(
    estimator: RatioEstimator | DensityEstimator,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float64",
    encoding: Encoding | None = None,
) -> Exported:
    """Write the one-pass log ratio, or the log density, with its scaling as one ONNX file.

    Its input `rows` has shape (n, d), its output `log_ratio` or `log_density` (n,); n is free.
    Columns are scaled in double precision and the network runs in single, as they do in secant.

    Args:
        estimator: fitted.
        path: where; an older file is replaced once the new one is complete.
        dtype: of rows and answers: "float64" or "float32".
        encoding: how tables became the numbers that the model takes. It is carried in the file's
            metadata; the file itself takes the encoded columns.

    Raises:
        ExportError: If a part of the estimator cannot be exported.
        ImportError: If jax2onnx, onnx or onnxruntime is absent.
    """
    kind = checked_dtype(dtype)
    onnx, runtime = _libraries()
    program = program_of(estimator)
    names = column_names(estimator, None if encoding is None else encoding.names)
    model = onnx.helper.make_model(
        onnx_graph(program, kind),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        **_origin(program.quantity),
    )
    onnx.helper.set_model_props(model, _metadata(estimator, program.quantity, names, encoding))
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString()
    found = checked(estimator, program, kind, len(data), _callable(runtime, data), names)
    write_atomically(Path(path), data)
    return found


def _libraries() -> tuple[Any, Any]:
    try:
        import jax2onnx  # noqa: F401
        import onnx
        import onnx.compose
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "an ONNX file needs the packages jax2onnx, onnx and onnxruntime to be written; install "
            "them with `pip install 'secant[onnx]'`, or export to StableHLO, which needs none."
        ) from error
    return onnx, onnxruntime


def _origin(quantity: str) -> dict[str, str]:
    from secant import __version__

    return {
        "producer_name": "secant",
        "producer_version": __version__,
        "doc_string": _MEANINGS[quantity],
    }


def _metadata(
    estimator: RatioEstimator | DensityEstimator,
    quantity: str,
    names: tuple[str, ...],
    encoding: Encoding | None,
) -> dict[str, str]:
    from secant import __version__

    found = {
        "secant.version": __version__,
        "secant.estimator": type(estimator).__name__,
        "secant.output": quantity,
        "secant.meaning": _MEANINGS[quantity],
        "secant.columns": json.dumps(names, ensure_ascii=False),
    }
    if encoding is not None:
        found["secant.encoding"] = json.dumps(encoding.to_json(), ensure_ascii=False)
    return found


def _callable(
    runtime: Any,  # noqa: ANN401
    data: bytes,
) -> Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, " n"]]:
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])

    def answer(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        (values,) = session.run(None, {ROWS: rows})
        return np.asarray(values)

    return answer
