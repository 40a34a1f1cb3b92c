"""Pages, figures and summaries made from results; nothing is fitted here."""

from secant.report.comparison_page import comparison_page, write_comparison
from secant.report.page import Page, rendered, write_page

__all__ = ["Page", "comparison_page", "rendered", "write_comparison", "write_page"]
