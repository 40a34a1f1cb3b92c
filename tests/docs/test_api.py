"""Every public name is documented on an API page."""

import importlib
import re
import types

import pytest
from tests.docs.guides import GUIDES

PACKAGES = (
    "secant",
    "secant.bases",
    "secant.datasets",
    "secant.deploy.export",
    "secant.deploy.scoring",
    "secant.diagnostics",
    "secant.estimators",
    "secant.exceptions",
    "secant.models",
    "secant.report",
    "secant.targets",
    "secant.tasks",
    "secant.training",
)


def found(path):
    """The object at a dotted path."""
    module, _, name = path.rpartition(".")
    try:
        return importlib.import_module(path)
    except ImportError:
        return getattr(found(module), name)


def members(module):
    """The members of a module that its API page shows."""
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    return [getattr(module, name) for name in getattr(module, "__all__", own)]


@pytest.fixture(scope="module")
def documented():
    pages = "\n".join(page.read_text("utf-8") for page in (GUIDES.parent / "api").glob("*.md"))
    shown = [found(path) for path in re.findall(r"^::: (secant\..+)$", pages, re.MULTILINE)]
    modules = [one for one in shown if isinstance(one, types.ModuleType)]
    return shown + [member for module in modules for member in members(module)]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_documented(package, documented):
    known = {id(one) for one in documented}
    for name in found(package).__all__:
        public = found(f"{package}.{name}")
        assert isinstance(public, types.ModuleType) or id(public) in known, name
