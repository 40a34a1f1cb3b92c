"""The package's names are imported on first use, and are all there."""

import ast
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import secant


@pytest.mark.parametrize("name", secant.__all__)
def test_every_public_name_is_there(name):
    assert getattr(secant, name) is not None
    assert name in dir(secant)


def test_the_type_checker_and_python_read_the_same_imports():
    tree = ast.parse(Path(inspect.getfile(secant)).read_text(encoding="utf-8"))
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    read = {(node.module, alias.name) for node in block.body for alias in node.names}
    submodules = {name for module, name in read if module == "secant"}
    homes = {(module, name) for module, names in secant._HOMES.items() for name in names}
    assert homes == {pair for pair in read if pair[0] != "secant"}
    assert submodules | set(secant._HOME_OF) == set(secant.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'SecantRation'"):
        _ = secant.SecantRation


def test_an_estimator_survives_a_pickle():
    again = pickle.loads(pickle.dumps(secant.SecantRatio(random_state=3)))
    assert isinstance(again, secant.SecantRatio)
    assert again.random_state == 3


def test_the_package_alone_loads_nothing_heavy():
    heavy = "{'jax', 'numpy', 'sklearn', 'matplotlib', 'pyarrow', 'scipy'}"
    code = f"import sys, secant; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_without_the_benchmarks_their_name_says_how_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "secant_bench", None)
    monkeypatch.delitem(sys.modules, "secant.benchmarks", raising=False)
    monkeypatch.delattr(secant, "benchmarks", raising=False)
    with pytest.raises(ImportError, match=r"pip install \./benchmarks"):
        _ = secant.benchmarks


def test_old_names_of_files_in_and_out_warn():
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    from secant.io.tables import read_table\n"
        "    from secant.io.export import export_onnx\n"
        "import secant.deploy.export, secant.tables.files\n"
        "assert read_table is secant.tables.files.read_table\n"
        "assert export_onnx is secant.deploy.export.export_onnx\n"
        "print([w.category.__name__ for w in found if 'secant.io' in str(w.message)])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['DeprecationWarning']"
