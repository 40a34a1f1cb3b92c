"""Export of fitted models to ONNX and StableHLO programs, which run without secant.

```python
from secant.deploy.export import export_onnx

export_onnx(ratio, "model.onnx")  # rows (n, d) in, log ratios (n,) out, the scaling inside
```
"""

from secant.deploy.export.exported import Exported
from secant.deploy.export.onnx_files import export_onnx
from secant.deploy.export.programs import ExportError
from secant.deploy.export.stablehlo_files import export_stablehlo, load_stablehlo

__all__ = ["ExportError", "Exported", "export_onnx", "export_stablehlo", "load_stablehlo"]
