"""Dependencies are needed, pinned, and checked for advisories."""

import importlib.util
import json
import re
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BENCH = tomllib.loads((ROOT / "benchmarks/pyproject.toml").read_text("utf-8"))["project"]
IMPORTED_AS = {"scikit-learn": "sklearn", "pillow": "PIL"}
BY_JAX = {"flatbuffers"}  # jax.export writes StableHLO with it, and does not require it
SKIPPED = "advisories not reachable: skipped"


def pinned():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def brought(requirements):
    """The distributions that these bring along, as far as they are installed here."""
    found, waiting = set(), [Requirement(text) for text in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        extras = one.extras or {""}
        if (name, *sorted(extras)) in found:
            continue
        try:
            more = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue
        found.add((name, *sorted(extras)))
        waiting += [
            r for r in more if not r.marker or any(r.marker.evaluate({"extra": e}) for e in extras)
        ]
    return {name for name, *_ in found}


def test_everything_that_development_installs_is_pinned():
    ours = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    wanted = brought([*ours, *BENCH["dependencies"]])
    assert len(wanted) > 50
    own = {"pip", "setuptools", "secant"}  # of the environment itself
    assert wanted - set(pinned()) - own == set()


def imported_as(text):
    return IMPORTED_AS.get(Requirement(text).name, Requirement(text).name)


def imported(source, sign):
    return {m for p in source.rglob("*.py") for m in re.findall(sign, p.read_text("utf-8"), re.M)}


@pytest.mark.parametrize(
    ("project", "source"), [(PROJECT, ROOT / "src"), (BENCH, ROOT / "benchmarks/src")]
)
def test_core_dependencies_are_imported_and_nothing_else_at_the_top(project, source):
    core = {imported_as(text) for text in project["dependencies"]}
    assert core - BY_JAX - imported(source, r"^\s*(?:from|import) (\w+)") == set()
    own = {project["name"].replace("-", "_")}
    at_the_top = imported(source, r"^(?:from|import) (\w+)")
    assert at_the_top - core - set(sys.stdlib_module_names) - own == set()


@pytest.fixture(scope="module")
def audit():
    loader = SourceFileLoader("audit", str(ROOT / "scripts/audit"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit", loader))
    loader.exec_module(module)
    return module


def report(*parts):
    return json.dumps({"dependencies": parts})


GOOD = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
ABSENT = {"name": "c", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("output", "code", "said"),
    [
        ("", 0, SKIPPED),
        (report(ABSENT), 0, SKIPPED),
        (report(GOOD), 0, "1 pinned versions audited, 0 with advisories"),
        (report(GOOD, ABSENT), 0, "1 pinned versions audited, 0 with advisories, 1 not found"),
        (report(GOOD, WEAK), 1, "b 2: CVE-1; fixed in 3\n2 pinned versions audited, 1 with"),
    ],
)
def test_an_audit_says_what_it_has_seen(audit, output, code, said):
    found = audit.verdict(output)
    assert found[0] == code
    assert found[1].startswith(said)
