"""Sweeps over benchmarks that are made in a test."""

from secant_bench import Selection, Sweep


class Given:
    """A recipe of one benchmark, which stands in for its name."""

    def __init__(self, benchmark):
        self._benchmark, self.file = benchmark, "rows.jsonl"

    def build(self):
        return self._benchmark


def sweep(benchmark, folder, **selection):
    return Sweep(Given(benchmark), folder, Selection(**selection))


def swept(benchmark, folder, **selection):
    """The rows that a sweep adds to `rows.jsonl` in a folder."""
    return list(sweep(benchmark, folder, **selection).run())
