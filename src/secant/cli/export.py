"""`secant export`: export a model to ONNX or StableHLO."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from secant.cli.command import command
from secant.cli.score import ModelInput
from secant.cli.session import Session, check_place


class Format(Enum):
    """File formats."""

    ONNX = "onnx"
    STABLEHLO = "stablehlo"


class Precision(Enum):
    """Types of inputs and outputs."""

    DOUBLE = "float64"
    SINGLE = "float32"


@command("export")
def export(
    session: Session,
    model: ModelInput,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, such as model.onnx.")
    ],
    to: Annotated[
        Format | None,
        typer.Option(
            help="Format; by default from the file extension, ONNX unless it is .stablehlo."
        ),
    ] = None,
    dtype: Annotated[
        Precision, typer.Option(help="Type of inputs and outputs.")
    ] = Precision.DOUBLE,
) -> None:
    """Write a model as ONNX or StableHLO, to run without secant.

    The file maps rows of numbers, encoded as in `secant fit`, to the log ratio or log density of
    each. It includes the scaling of columns. ONNX needs the extra: pip install
    'secant[onnx]'.
    """
    from secant.deploy.export import export_onnx, export_stablehlo
    from secant.deploy.scoring import Scorer

    check_place(output)
    scorer = Scorer.loaded(model)
    kind = to or (Format.STABLEHLO if output.suffix == ".stablehlo" else Format.ONNX)
    write = export_onnx if kind is Format.ONNX else export_stablehlo
    found = write(scorer.estimator, output, dtype=dtype.value, encoding=scorer.encoding)
    session.show(
        f"{kind.value} of a {found.estimator}: {len(found.columns)} columns of {found.dtype} to "
        f"{found.quantity}, {found.size:,} bytes\n"
        f"at 64 rows it is within {found.difference:.1e} of the model\nfile: {output}"
    )
    session.finish({"output": str(output), "format": kind.value, **vars(found)})
