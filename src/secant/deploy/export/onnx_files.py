"""ONNX files, which any ONNX runtime can run.

jax2onnx uses one precision for a whole graph. So the scaling of columns and the network are
converted separately, each in its own precision, and connected by casts.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Float

from secant._host.atomic_files import write_atomically
from secant.deploy.export.exported import (
    Exported,
    checked_dtype,
    checked_export,
    input_names,
    program_of,
)
from secant.deploy.export.programs import ExportError, Function, Program, n_rows, staged
from secant.estimators import RatioEstimator
from secant.tasks import DensityEstimator

if TYPE_CHECKING:
    from secant.tables.encoding import Encoding


_IR_VERSION = 8  # of the file format, from the time of the opset
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
        path: of the file; an older file is replaced once the new one is complete.
        dtype: of rows and answers: "float64" or "float32".
        encoding: of tables as the model's columns. It is stored in the file's metadata; the
            inputs of the file are the encoded columns.

    Raises:
        ExportError: If a part of the estimator cannot be exported.
        ImportError: If jax2onnx, onnx or onnxruntime is absent.
    """
    kind = checked_dtype(dtype)
    onnx, runtime = _libraries()
    program = program_of(estimator)
    names = input_names(estimator, None if encoding is None else encoding.names)
    model = onnx.helper.make_model(
        onnx_graph(program, kind),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        **_origin(program.quantity),
    )
    onnx.helper.set_model_props(model, _metadata(estimator, program.quantity, names, encoding))
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString()
    found = checked_export(estimator, program, kind, len(data), _callable(runtime, data), names)
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


OPSET = 17  # of 2022: sufficient, and supported by current and older runtimes
ROWS = "rows"  # name of the input
_PLUGINS = "jax2onnx.plugins.jax"
_LOCK = threading.Lock()  # jax2onnx replaces functions of JAX while it runs


def onnx_graph(program: Program, dtype: type[np.floating]) -> Any:  # noqa: ANN401
    """An `onnx.GraphProto`: rows (n, d) to answers (n,), both of the given type."""
    import onnx

    n, d = n_rows(), program.n_features
    rows = jax.ShapeDtypeStruct((n, d), np.float64)
    with jax.enable_x64(True):
        prepare = staged(program.prepared, rows)
        prepared = jax.eval_shape(prepare, rows)
    network = program.staged_network(n)
    with _LOCK, _few_plugins():
        before = _converted(prepare, [rows], "before", is_double=True)
        inputs = prepared if network is None else _network_inputs(prepared, program, rows)
        after = None if network is None else _converted(network, inputs, "network", is_double=False)
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    start = onnx.helper.make_tensor_value_info(ROWS, kind, ["n", d])
    end = onnx.helper.make_tensor_value_info(program.quantity, kind, ["n"])
    parts = [part for part in (before, after) if part is not None]
    return onnx.helper.make_graph(
        _joined(before, after, program.quantity, np.dtype(dtype)),
        program.quantity,
        [start],
        [end],
        initializer=[tensor for part in parts for tensor in part.initializer],
    )


def _network_inputs(
    prepared: Sequence[jax.ShapeDtypeStruct], program: Program, rows: jax.ShapeDtypeStruct
) -> list[jax.ShapeDtypeStruct]:
    with jax.enable_x64(True):
        count = len(jax.eval_shape(lambda x: program.prepare(x).inputs, rows))
    return [jax.ShapeDtypeStruct(x.shape, np.float32) for x in prepared[:count]]


def _joined(before: Any, after: Any, output: str, dtype: np.dtype[Any]) -> list[Any]:  # noqa: ANN401
    """Nodes from the input over both parts to the output."""
    (first,) = (value.name for value in before.input)
    results = [value.name for value in before.output]
    nodes = [_cast(ROWS, first, np.float64), *before.node]
    terms = results
    if after is not None:
        inputs = [value.name for value in after.input]
        terms = results[len(inputs) :]
        nodes += [_cast(a, b, np.float32) for a, b in zip(results, inputs, strict=False)]
        nodes += [*after.node, _cast(after.output[0].name, "network/double", np.float64)]
        terms = ["network/double", *terms]
    return [*nodes, *_sum(terms), _cast("total", output, dtype)]


def _cast(name: str, result: str, dtype: Any) -> Any:  # noqa: ANN401
    from onnx import helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_node("Cast", [name], [result], f"cast to {result}", to=kind)


def _sum(terms: Sequence[str]) -> list[Any]:
    from onnx import helper

    kind = "Add" if len(terms) > 1 else "Identity"
    return [helper.make_node(kind, list(terms), ["total"], "total")]


def _converted(
    function: Function,
    inputs: Sequence[jax.ShapeDtypeStruct],
    name: str,
    *,
    is_double: bool,
) -> Any:  # noqa: ANN401
    from jax2onnx import to_onnx
    from onnx.compose import add_prefix_graph

    try:
        # For this thread only: jax2onnx would set it for all threads, and affect fits in them.
        with jax.enable_x64(is_double):
            model = to_onnx(
                function,
                list(inputs),
                model_name=name,
                opset=OPSET,
                enable_double_precision=is_double,
            )
    except Exception as error:  # jax2onnx has no error of its own
        raise ExportError(
            f"jax2onnx cannot convert the {_WORDS[name]} of this model: {error}. StableHLO "
            "(`--to stablehlo`) supports every operation of JAX."
        ) from error
    graph = add_prefix_graph(model.graph, f"{name}/")
    _drop_unused(graph)
    return graph


_WORDS = {"before": "scaling of columns", "network": "network"}


def _drop_unused(graph: Any) -> None:  # noqa: ANN401
    """Unused constants, about each of which a runtime warns when it reads the file."""
    used = set(_used(graph))
    for inner in (graph, *_subgraphs(graph)):
        kept = [tensor for tensor in inner.initializer if tensor.name in used]
        del inner.initializer[:]
        inner.initializer.extend(kept)


def _used(graph: Any) -> Iterator[str]:  # noqa: ANN401
    for inner in (graph, *_subgraphs(graph)):
        yield from (value.name for value in inner.output)
        for node in inner.node:
            yield from node.input


def _subgraphs(graph: Any) -> Iterator[Any]:  # noqa: ANN401
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
                yield from _subgraphs(attribute.g)


@contextmanager
def _few_plugins() -> Iterator[None]:
    """Load only the plugins for JAX itself: those for other libraries take 20 seconds to load."""
    from jax2onnx.plugins import plugin_system

    for module in walk_packages(import_module(_PLUGINS).__path__, f"{_PLUGINS}."):
        import_module(module.name)
    had_all = getattr(plugin_system, "_already_imported_plugins", False)
    plugin_system._already_imported_plugins = True
    log = logging.getLogger("onnx_ir.serde")  # logs every omitted type
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
        plugin_system._already_imported_plugins = had_all
