"""Every erratum has a figure and a test, and both exist."""

import re

import pytest
from tests.docs.test_links import DOCS, ROOT, slug

POINTS = re.split(
    r"^## (?=\d)", (DOCS / "errata.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)[1:]
PICTURE = re.compile(r"!\[[^\]]+\]\(figures/gallery/(\w+)\.png\)")
SHARED = re.compile(r"\[picture at point (\d)\]\(#([\w-]+)\)")
TEST = re.compile(r"`((?:benchmarks/)?tests/[\w/]+\.py)(?:::(\w+))?`")


def named(point):
    return re.findall(TEST, point.partition("*Test:*")[2])


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.split(".")[0])
def test_a_point_has_its_figure(point):
    if shared := SHARED.search(point):
        other = POINTS[int(shared[1]) - 1]
        assert slug(other.splitlines()[0]) == shared[2]
        assert PICTURE.search(other)
        return
    (name,) = PICTURE.findall(point)
    assert f"`examples/{name}.py`" in point
    assert (ROOT / "examples" / f"{name}.py").exists()


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.split(".")[0])
def test_a_point_has_its_test(point):
    assert named(point)
    for file, function in named(point):
        assert function, f"name the test in {file}"
        assert f"\ndef {function}(" in (ROOT / file).read_text(encoding="utf-8")


def test_points_are_numbered_and_none_is_missed():
    assert [int(point.split(".")[0]) for point in POINTS] == list(range(1, len(POINTS) + 1))
    assert len(POINTS) >= 9


def test_a_test_that_is_not_there_would_be_seen():
    assert named("*Test:* `tests/unit/test_paths.py::test_nothing`.") == [
        ("tests/unit/test_paths.py", "test_nothing")
    ]
    assert named("`tests/unit/test_paths.py::test_nothing`") == []
