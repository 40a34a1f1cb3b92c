"""Pages, figures and summaries made from results; nothing is fitted here.

`secant.report.figures` imports matplotlib, which is slow, and is therefore not imported here.
"""

from secant.report.blocks import Picture, Section, Text
from secant.report.closure_page import closure_page, write_closure
from secant.report.comparison_page import comparison_page, write_comparison
from secant.report.density_page import density_page, write_density
from secant.report.information_page import (
    information_page,
    matrix_page,
    write_information,
    write_matrix,
)
from secant.report.junit import junit, write_junit
from secant.report.markdown import markdown, write_markdown
from secant.report.monitoring_page import monitoring_page, write_monitoring
from secant.report.page import Page, rendered, write_page
from secant.report.tables import text_table

__all__ = [
    "Page",
    "Picture",
    "Section",
    "Text",
    "closure_page",
    "comparison_page",
    "density_page",
    "information_page",
    "junit",
    "markdown",
    "matrix_page",
    "monitoring_page",
    "rendered",
    "text_table",
    "write_closure",
    "write_comparison",
    "write_density",
    "write_information",
    "write_junit",
    "write_markdown",
    "write_matrix",
    "write_monitoring",
    "write_page",
]
