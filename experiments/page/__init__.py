"""The results page: tables, plots and verdicts, as Markdown and as HTML."""
