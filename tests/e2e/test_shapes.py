"""Every array in real fits has the shape its annotation says (jaxtyping with beartype)."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_shapes_agree_with_their_annotations_throughout_real_fits():
    script = Path(__file__).with_name("shape_checked.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "all shapes agree"
