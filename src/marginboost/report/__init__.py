"""A fitted model on one page: a self-contained HTML report."""

from marginboost.report.write import write_report

__all__ = ["write_report"]
