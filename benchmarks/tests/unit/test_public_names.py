"""The package's names are imported on first use, and are all there."""

import ast
import inspect
from pathlib import Path

import pytest

import secant
import secant_bench


@pytest.mark.parametrize("name", secant_bench.__all__)
def test_every_public_name_is_there(name):
    assert getattr(secant_bench, name) is not None
    assert name in dir(secant_bench)


def test_the_type_checker_and_python_read_the_same_imports():
    tree = ast.parse(Path(inspect.getfile(secant_bench)).read_text(encoding="utf-8"))
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    read = {(node.module, alias.name) for node in block.body for alias in node.names}
    assert read == {(home, n) for home, names in secant_bench._HOMES.items() for n in names}
    assert {name for _, name in read} == set(secant_bench.__all__)


def test_it_is_the_benchmarks_of_the_library():
    assert secant.benchmarks is secant_bench


def test_tables_of_real_data_have_moved_here():
    with pytest.warns(DeprecationWarning, match=r"secant_bench\.real_tables\.power"):
        found = secant.datasets.power
    assert found is secant_bench.real_tables.power
