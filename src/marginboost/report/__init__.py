"""A self-contained HTML report on a fitted model."""

from marginboost.report.write import write_report

__all__ = ["write_report"]
