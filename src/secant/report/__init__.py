"""Pages, figures and summaries made from results; nothing is fitted here.

`secant.report.figures` and `secant.report.comparison_figures` draw with matplotlib, which takes a
while to import, and stand apart for that reason.
"""

from secant.report.comparison_page import comparison_page, write_comparison
from secant.report.density_page import density_page, write_density
from secant.report.information_page import (
    information_page,
    matrix_page,
    write_information,
    write_matrix,
)
from secant.report.markdown import markdown, write_markdown
from secant.report.page import Page, rendered, write_page

__all__ = [
    "Page",
    "comparison_page",
    "density_page",
    "information_page",
    "markdown",
    "matrix_page",
    "rendered",
    "write_comparison",
    "write_density",
    "write_information",
    "write_markdown",
    "write_matrix",
    "write_page",
]
