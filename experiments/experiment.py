"""The base class of experiments: trials to run, and a section of the results page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Self

from experiments.page.section import Section
from experiments.trial import Measures, Records, Settings, Trial


class Experiment(ABC):
    """A table or a figure of the paper.

    A subclass is a frozen dataclass. Its fields are sizes, which a miniature reduces.

    Attributes
    ----------
    name : str
        Its name on the command line: "table1".
    title : str
        Heading of its section.
    paper_repeats : int
        How often the paper repeats it.
    few_repeats : int
        How often the command repeats it by default, also in `make reproduce`.
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
        """Return a version for the tests that takes seconds, on data that scikit-learn embeds."""

    @classmethod
    def small(cls) -> Self:
        """Return a version for `make reproduce` that takes minutes on two cores.

        Override it if the full version takes longer, with smaller fields.
        """
        return cls()

    @abstractmethod
    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield the trials to run; the runner adds their conditions."""

    @abstractmethod
    def conditions(self, trial: Trial) -> Settings:
        """Return all that decides the outcome of a trial and is not in it: `experiments.conditions`."""

    @abstractmethod
    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Run a trial on `n_jobs` threads."""

    @abstractmethod
    def section(self, records: Records) -> Section:
        """Compare our numbers with the paper's."""
