"""A report that was written."""

from __future__ import annotations

from dataclasses import dataclass

from marginboost.html import tag

__all__ = ["Report"]


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A report on a model: the file that holds it, and what a notebook shows.

    It can be passed wherever a path can: ``open(report)``, ``shutil.copy(report, folder)``. In a notebook
    it appears below the cell, in a frame of its own: its style and script cannot touch the notebook.
    The frame is part of the saved notebook, as large as the file.

    Attributes
    ----------
    path : str
        The file.
    html : str
        Its content.
    """

    path: str
    html: str

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return self.path

    def __str__(self) -> str:
        """Return the path of the file."""
        return self.path

    def __repr__(self) -> str:
        """Name the file and its size."""
        return f"Report({self.path!r}, {len(self.html.encode()) / 1000:,.0f} kB)"

    def _repr_html_(self) -> str:
        """Show the report in a frame that may run its own script, and nothing else."""
        style = "width: 100%; height: 44rem; border: 1px solid #8884; border-radius: .4rem"
        frame = tag("iframe", srcdoc=self.html, sandbox="allow-scripts", style=style,
                    title="Report on a model")  # fmt: skip
        return str(frame)
