"""The experiments, in the order of the paper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import import_module

from experiments.experiment import Experiment

ALL = "all"

# The class of each experiment, and what it shows. Imported on demand, so that a missing package
# stops only the experiments that need it.
_WRITTEN = {
    "figure1": ("Figure1", "coefficient paths: stage-wise against the l1-constrained optimum"),
    "table1": ("Table1", "the regularisation nu, from 0 to 0.1"),
    "table2": ("Table2", "shrinkage, from 1.0 to 0.1"),
    "choices": (
        "Choices",
        "the regularisation of MultiBoost and GradBoost, by cross-validation "
        "(not in all: the others read its stored results)",
    ),
    "table3": (
        "Table3",
        "letter by classes and samples, against MultiBoost",
    ),
    "table4": ("Table4", "eight sets: error against MultiBoost, and Wilcoxon's test"),
    "timing": ("Timing", "the time of the coefficients, one fit at a time (and Figure 2)"),
    "texts": ("Texts", "which word weights give the paper's errors on texts"),
    "table5": ("Table5", "fourteen sets, eight methods, 1000 rounds (and Figure 3)"),
    "depth": ("Depth", "which trees, and how many rows, give Table V"),
    "reasons": (
        "Reasons",
        "where our numbers differ from the paper's: which rows it may have drawn",
    ),
    "table6": ("Table6", "evaluation functions, and the time to classify a row"),
    "table7": ("Table7", "MNIST with orientation histograms, 60,000 training rows"),
    "scenes": ("Scenes", "which features of scenes are best, by training images alone"),
    "table8": ("Table8", "fifteen scenes with CENTRIST, boosting and SVMs (and Figure 4)"),
}
# Run only by name: the others read its results in experiments/results.
_APART = ("choices",)
LINES = {name: line for name, (_, line) in _WRITTEN.items()}


class _Catalogue(Mapping[str, type[Experiment]]):
    """The experiments by their names."""

    def __getitem__(self, name: str) -> type[Experiment]:
        kind, _ = _WRITTEN[name]
        try:
            module = import_module(f"experiments.{name}")
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.split(".")[0] == "experiments":
                raise
            raise ImportError(
                f"The experiment {name} needs {error.name}, which is not installed: "
                "pip install '.[experiments]' in a checkout."
            ) from error
        found: type[Experiment] = getattr(module, kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_WRITTEN)

    def __len__(self) -> int:
        return len(_WRITTEN)


EXPERIMENTS: Mapping[str, type[Experiment]] = _Catalogue()


def named(names: Iterable[str], known: Collection[str] = EXPERIMENTS) -> list[str]:
    """Return the requested experiments in the order of the paper, each once.

    Parameters
    ----------
    names : iterable of str
        Names of experiments; "all" stands for all but `choices`, which must be named.
    known : collection of str, optional
        The experiments to choose from.
    """
    names = list(names)
    for name in names:
        if name != ALL and name not in known:
            raise ValueError(
                f"An experiment must be one of {', '.join(known)}, or {ALL}; got {name!r}."
            )
    return [name for name in known if name in names or (ALL in names and name not in _APART)]
