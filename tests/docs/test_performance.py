"""docs/guides/performance.md, run as it stands."""

from tests.docs.guides import run


def test_the_interval_covers_what_the_labels_show():
    names = run("performance.md")
    low, high = names["found"].interval
    assert low < names["truth"] < high
    assert names["found"].has_changed
