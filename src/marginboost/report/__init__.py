"""A self-contained HTML report on a fitted model."""

from marginboost.report.report import Report
from marginboost.report.write import write_report

__all__ = ["Report", "write_report"]
