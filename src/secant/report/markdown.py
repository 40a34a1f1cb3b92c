"""Results as short Markdown, for an issue or a pull request; every name is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path

from secant.report.numbers import number, p_value, percent, with_error
from secant.report.page import write_text
from secant.tasks.comparison_result import Comparison
from secant.tasks.density import DensityEstimator
from secant.tasks.divergence import Divergence
from secant.tasks.information import MutualInformation
from secant.tasks.mi_matrix import MutualInformationMatrix
from secant.tasks.monitoring_result import Monitoring

_SHOWN = 10
_NUMBER = re.compile(r"\W*\d|–?$")  # or the dash in its place


def write_markdown(path: Path | str, result: object) -> None:
    """Write a result as one Markdown file.

    Args:
        path: of the file.
        result: of `compare`, `monitor` or `mutual_information`, a matrix, or a fitted density.
    """
    write_text(path, markdown(result))


@singledispatch
def markdown(result: object) -> str:
    """A result as Markdown."""
    raise TypeError(
        "`result` must be a Comparison, Monitoring, MutualInformation, MutualInformationMatrix or "
        f"a fitted DensityEstimator; got {type(result).__name__}."
    )


@markdown.register
def _(result: Comparison) -> str:
    zero, one = (escaped(name) for name in result.sample_names)
    rows = [
        *(_divergence(d) for d in (result.kl, result.kl_reverse, result.jensen_shannon)),
        ("share in common", *_share(result)),
        (
            f"effective rows of {zero} as {one}",
            f"{result.effective_sample_size_0:,.0f} of {result.log_ratio_0.size:,}",
            "",
        ),
        (
            f"effective rows of {one} as {zero}",
            f"{result.effective_sample_size_1:,.0f} of {result.log_ratio_1.size:,}",
            "",
        ),
        ("p-value", p_value(result.p_value), ""),
    ]
    columns = [
        (
            escaped(c.name),
            with_error(c.contribution, c.contribution_error),
            f"{c.margin.mean_shift:+.2f}",
            f"{c.margin.ks_distance:.3f}",
        )
        for c in result.features[:_SHOWN]
    ]
    parts = [
        f"# {zero} and {one}",
        f"**{escaped(result.verdict)}**",
        table(("", "estimate", "interval"), rows),
        *(f"> {escaped(note)}" for note in result.notes),
        f"Model: {escaped(result.model)}.",
        "## Columns that differ most",
        table(("column", "contribution (nats)", "mean shift (s.d.)", "KS distance"), columns),
        "## Reproduce",
        f"```python\n{result.call}\n```",
        f"secant {result.versions['secant']}, jax {result.versions['jax']}, "
        f"{result.seconds:.1f} s.",
    ]
    return "\n\n".join(parts) + "\n"


@markdown.register
def _(result: Monitoring) -> str:
    zero, one = (escaped(name) for name in result.sample_names)
    header = ("window", "rows", "in common", "KL (nats)", "p-value", "evidence", "changed")
    rows = [tuple(map(escaped, result.cells(i))) for i in range(len(result.windows))]
    parts = [
        f"# {one} against {zero}",
        f"**{escaped(result.verdict)}**",
        escaped(result.band.words),
        *(f"> {escaped(note)}" for note in result.notes),
        "## Windows",
        table(header, rows),
        f"secant {result.versions['secant']}, {result.seconds:.1f} s.",
    ]
    return "\n\n".join(parts) + "\n"


@markdown.register
def _(result: MutualInformation) -> str:
    low, high = result.interval
    rows = [
        ("estimate", f"{with_error(result.estimate, result.standard_error)} {result.base}"),
        (f"{100 * result.confidence:g} % interval", f"{number(low)} to {number(high)}"),
        ("p-value of independence", p_value(result.p_value)),
    ]
    if result.on_path is not None:
        other = result.on_path
        rows.append(("on the path", with_error(other.estimate, other.standard_error)))
    return f"# Mutual information\n\n{table(('', 'value'), rows)}\n"


@markdown.register
def _(result: MutualInformationMatrix) -> str:
    d = len(result.names)
    rows = [
        (
            escaped(result.names[i]),
            escaped(result.names[j]),
            with_error(float(result.estimate[i, j]), float(result.standard_error[i, j])),
            p_value(float(result.p_value[i, j])),
            p_value(float(result.adjusted_p_value[i, j])),
        )
        for i, j in result.strongest(d * (d - 1) // 2)
    ]
    header = ("column", "and", f"information ({result.base})", "p-value", "adjusted p")
    return f"# Mutual information of columns\n\n{table(header, rows)}\n"


@markdown.register
def _(result: DensityEstimator) -> str:
    return f"# A learned density\n\n{escaped(str(result.normalizer_))}\n"


def _divergence(found: Divergence) -> tuple[str, str, str]:
    low, high = found.interval
    estimate = number(found.estimate) if found.is_resolved else f"at most {number(high)}"
    return escaped(found.name), estimate, f"{number(low)} to {number(high)}"


def _share(found: Comparison) -> tuple[str, str]:
    low, high = found.overlap_interval
    is_known = found.total_variation.is_resolved
    estimate = percent(found.overlap) if is_known else f"at least {percent(low)}"
    return estimate, f"{percent(low)} to {percent(high)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns that are mostly numbers to the right, the others to the left."""
    columns = [[row[place] for row in rows] for place in range(1, len(header))]
    numbers = [sum(map(bool, map(_NUMBER.match, column))) for column in columns]
    rule = ["---", *("---:" if 2 * n > len(rows) else "---" for n in numbers)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def escaped(text: str) -> str:
    """A text that Markdown shows as it is: no markup, no HTML, on one line."""
    one_line = " ".join(text.split())
    plain = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", plain)
