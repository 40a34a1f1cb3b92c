"""Fitted models as programs that run without secant: ONNX and StableHLO.

```python
from secant.io.export import export_onnx

export_onnx(ratio, "model.onnx")  # rows (n, d) in, log ratios (n,) out, the scaling inside
```
"""

from secant.io.export.checking import Exported
from secant.io.export.errors import ExportError
from secant.io.export.onnx_files import export_onnx
from secant.io.export.stablehlo_files import export_stablehlo, load_stablehlo

__all__ = ["ExportError", "Exported", "export_onnx", "export_stablehlo", "load_stablehlo"]
