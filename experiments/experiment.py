"""What every experiment is: trials to run, and a section of the results page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self

from experiments.page.section import Section
from experiments.trial import Measures, Records, Trial


class Experiment(ABC):
    """A table or a figure of the paper.

    A subclass is a frozen dataclass: its fields are the sizes that a miniature makes smaller.

    Attributes
    ----------
    name : str
        As on the command line: "table1".
    title : str
        Heading of its section.
    paper_repeats : int
        How often the paper repeats it.
    few_repeats : int
        How often the command does where it is not told, and `make reproduce`.
    own_threads : bool
        Whether a trial uses all cores by itself. Such trials run one at a time.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper_repeats: ClassVar[int] = 50
    few_repeats: ClassVar[int] = 3
    own_threads: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def miniature(cls) -> Self:
        """Return the same in seconds, on data that scikit-learn embeds: for the tests."""

    @classmethod
    def small(cls) -> Self:
        """Return the same within minutes on two cores: for `make reproduce`.

        To be overridden where the full one takes longer, with the fields that make it smaller.
        """
        return cls()

    @abstractmethod
    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield what to run."""

    @abstractmethod
    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Run a trial on `n_jobs` threads."""

    @abstractmethod
    def section(self, records: Records) -> Section:
        """Set our numbers beside the paper's."""
