"""Table VI: evaluation functions, their coefficients, and the time to classify a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.choices import chosen_parameters
from experiments.conditions import conditions, rows_drawn
from experiments.data import load
from experiments.draws import Split, draw, seed_of
from experiments.evaluation import FORMULAS
from experiments.experiment import Experiment
from experiments.methods import METHODS, TODAY
from experiments.page.section import (
    FAILS,
    HOLDS,
    IN_PART,
    UNTESTED,
    Cell,
    Judgement,
    Number,
    Plot,
    Section,
    Table,
    Verdict,
    cell_of,
)
from experiments.page.shortfall import shortfall
from experiments.page.words import FEWEST
from experiments.paper import number
from experiments.time_a_row import FORMULA, WAYS, times_a_row
from experiments.trial import Measures, Records, Settings, Trial

# The paper's three kinds: name, evaluation function, coefficients, methods.
KINDS = (
    (
        "Coding based, single-label",
        "the r with the largest sum over j of w_j h_j(x) m_jr",
        "M: n x k; w: n",
        ("mh", "ecc"),
    ),
    (
        "Coding based, multi-label",
        "the r with the largest sum over j' of m_j'r times the sum over j of w_j h_j'j(x)",
        "M: k' x k; w: n; with k' = 2^(k-1) - 1",
        ("mo",),
    ),
    (
        "A matrix of coefficients",
        "the r with the largest sum over j of h_j(x) w_jr",
        "W: n x k",
        ("exp", "log", "multiboost", "gradboost"),
    ),
    (
        "Trees with one vector per leaf",
        "the r with the largest sum over trees of the vector of x's leaf, v_r",
        "a vector of k per leaf",
        ("marginboost",),
    ),
    (
        "One tree per class and round",
        "the r with the largest sum over the trees of class r of the value of x's leaf",
        "one number per leaf",
        ("lightgbm",),
    ),
)
# "Much slower", in numbers.
MUCH = 10.0


@dataclass(frozen=True)
class Table6(Experiment):
    """Evaluation functions and time per row.

    Attributes
    ----------
    data : str
        Set.
    n_classes : int or None
        How many of its classes, from the first; None for all.
    per_class : int
        Rows drawn per class; three quarters of them are for training.
    rounds : int
        Of boosting.
    n_rows : int
        Number of rows to classify in bulk, the last ones of the set.
    calls : int
        Maximum number of calls per median.
    """

    name: ClassVar[str] = "table6"
    title: ClassVar[str] = "Table VI: evaluation functions and time per row"
    paper_repeats: ClassVar[int] = 1
    few_repeats: ClassVar[int] = 1
    own_threads: ClassVar[bool] = True  # nothing else may run while times are taken

    data: str = "pendigits"
    n_classes: int | None = None
    per_class: int = 50
    rounds: int = 1000
    n_rows: int = 1000
    calls: int = 200

    @classmethod
    def miniature(cls) -> Self:
        """Return the same for four of scikit-learn's digits, and few rounds."""
        return cls(data="digits", n_classes=4, per_class=20, rounds=12, n_rows=50, calls=5)

    def trials(self, repeats: int) -> Iterator[Trial]:
        """Yield every method on the same draws."""
        settings = {
            "rounds": self.rounds,
            "per_class": self.per_class,
            "n_classes": self.n_classes,
            "rows": self.n_rows,
        }
        for repeat in range(repeats):
            for _, _, _, methods in KINDS:
                for method in methods:
                    yield Trial(self.data, method, repeat, settings)

    def conditions(self, trial: Trial) -> Settings:
        """Return the rounds, the rows and the parameters, the chosen regularisation among them."""
        return conditions(
            trial.method,
            rounds=self.rounds,
            rows=rows_drawn(self.per_class, first=self.n_classes),
            parameters=self._parameters(trial),
        )

    def _parameters(self, trial: Trial) -> Settings:
        found = chosen_parameters(trial.data, trial.method)
        # The coefficients after every round are not needed here.
        return found | ({"keep_path": False} if trial.method == "multiboost" else {})

    def run(self, trial: Trial, n_jobs: int) -> Measures:
        """Fit, then measure the times on one thread."""
        split = draw(trial.data, trial.repeat, self.per_class, first=self.n_classes)
        parameters = self._parameters(trial)
        seed = seed_of(trial.data, trial.repeat)
        model: Any = METHODS[trial.method].make(self.rounds, seed, 1, parameters)
        with threadpool_limits(1):
            began = perf_counter()
            model.fit(split.X, split.y)
            fit = {"fit_seconds": round(perf_counter() - began, 4)}
            X = np.ascontiguousarray(load(trial.data).X[-self.n_rows :], dtype=np.float64)
            formula = FORMULAS.get(trial.method)
            return fit | _facts(model, split) | times_a_row(model, X, formula, calls=self.calls)

    def section(self, records: Records) -> Section:
        """Compare functions and times with the paper's."""
        return Section(
            title=self.title,
            protocol=self._protocol(),
            tables=(self._functions(records), self._table(records)),
            plots=(_plot(records),) if len(records) else (),
            verdicts=(_verdict(records),),
            findings=tuple(_findings(records)),
        )

    def _protocol(self) -> str:
        return (
            f"{self.data}: {self.per_class} rows of each class, three quarters of them for training; "
            f"{self.rounds} rounds of stumps, MarginBoost and LightGBM with their defaults. "
            "Times are processor time on one thread, in microseconds per row, medians "
            f'over up to {self.calls} calls; "in bulk" is one call for {self.n_rows} rows. Each is '
            "measured in three ways. *As written* is the evaluation function itself, in NumPy: all weak "
            "classifiers are evaluated, then multiplied by their coefficients; the paper's MATLAB times "
            "(shown beside, though from another machine) are closest to that. *predict* is the "
            "classifier's own method, with scikit-learn's checks of its input. *compile()* is the "
            "model prepared for serving, which collapses the stumps of a feature to one step "
            "function."
        )

    def _functions(self, records: Records) -> Table:
        rows = []
        for kind, function, coefficients, methods in KINDS:
            labels = ", ".join(METHODS[method].label for method in methods)
            milliseconds = number("table6", self.data, methods[0])
            cells = [
                Cell(text=labels),
                Cell(text=function),
                Cell(text=coefficients),
                _cell_over(records, methods, "weak"),
                _cell_over(records, methods, FORMULA, _in_microseconds(milliseconds)),
            ]
            rows.append((kind, cells))
        return Table(
            "Evaluation functions of n rounds and k classes; h_j is the j-th weak classifier. Time "
            "as written, one row at a time, in microseconds: the mean over the methods that "
            "completed all rounds.",
            (
                "",
                "methods",
                "evaluation function",
                "coefficients",
                "weak classifiers",
                "µs per row",
            ),
            rows,
            best=None,
        )

    def _table(self, records: Records) -> Table:
        rows = []
        for method in _methods():
            found = records.of(method=method)
            paper = _in_microseconds(number("table6", self.data, method))
            cells = [_cell(found, "weak"), _cell(found, "coefficients")]
            cells += [_cell(found, way, paper if way == FORMULA else None) for way in WAYS]
            rows.append((METHODS[method].label, cells))
        return Table(
            "Microseconds to classify a row of "
            f"{self.data}, on one thread; coefficients are those of the formula.",
            ("", "weak classifiers", "coefficients", *WAYS.values()),
            rows,
            digits=2,
            best=None,
        )


def _methods() -> list[str]:
    return [method for _, _, _, methods in KINDS for method in methods]


def _facts(model: Any, split: Split) -> Measures:
    """Return the size and the error of a model."""
    own = hasattr(model, "ensemble_")
    return {
        "wrong": int(np.sum(model.predict(split.X_test) != split.y_test)),
        "n_test": len(split.y_test),
        "n_train": len(split.y),
        "n_classes": len(model.classes_),
        "rounds": int(model.ensemble_.n_rounds if own else model.booster_.current_iteration()),
        "weak": int(model.ensemble_.n_trees if own else model.booster_.num_trees()),
    }


def _in_microseconds(milliseconds: Number | None) -> Number | None:
    return None if milliseconds is None else Number(1e3 * milliseconds.mean)


def _held(records: Records, name: str) -> list[float]:
    """Return a measure of the records that have it."""
    return [record.measures[name] for record in records if name in record.measures]


def _cell(records: Records, name: str, paper: Number | None = None) -> Cell:
    """Return the cell of a measure; it says so if a method has none."""
    taken = _held(records, name)
    words = "" if taken or not len(records) else "has none"
    return cell_of(taken, paper, words, shortfall(records) if taken else "")


def _cell_over(
    records: Records, methods: tuple[str, ...], name: str, paper: Number | None = None
) -> Cell:
    """Return the cell of the mean over methods, repeat by repeat."""
    whole = _whole(records, methods)
    repeats = sorted({record.trial.repeat for record in whole})
    by_repeat = [
        Records([record for record in whole if record.trial.repeat == repeat]) for repeat in repeats
    ]
    means = [float(np.mean(taken)) for part in by_repeat if (taken := _held(part, name))]
    words = "" if means or not len(whole) else "has none"
    return cell_of(means, paper, words, shortfall(by_repeat[0]) if 0 < len(means) < FEWEST else "")


def _whole(records: Records, methods: tuple[str, ...]) -> Records:
    """Return the records of methods, without fits of stumps that ended before the last round."""
    return Records(
        [
            record
            for method in methods
            for record in records.of(method=method)
            if method in TODAY or record.measures["rounds"] == record.trial.settings["rounds"]
        ]
    )


def _mean(records: Records, methods: tuple[str, ...], name: str) -> float | None:
    taken = _held(_whole(records, methods), name)
    return float(np.mean(taken)) if taken else None


def _ratio(
    records: Records, way: str, over: tuple[str, ...], under: tuple[str, ...]
) -> float | None:
    above, below = _mean(records, over, way), _mean(records, under, way)
    return above / below if above is not None and below else None


def _in_paper(over: str, under: str) -> float:
    """Return the ratio of two of the paper's times."""
    above, below = (number("table6", "pendigits", method) for method in (over, under))
    return above.mean / below.mean if above is not None and below is not None else float("nan")


def _verdict(records: Records) -> Verdict:
    claim = "AdaBoost.MO is much slower than the other methods at test time (Table VI)"
    single, matrix = KINDS[0][3], KINDS[2][3]
    ratios = {way: _ratio(records, way, ("mo",), (*single, *matrix)) for way in WAYS}
    known = {way: ratio for way, ratio in ratios.items() if ratio is not None}
    if not known:
        return Verdict(claim, UNTESTED, "AdaBoost.MO and the others were not both run.")
    slower = [ratio >= MUCH for ratio in known.values()]
    judgement: Judgement = HOLDS if all(slower) else IN_PART if any(slower) else FAILS
    told = ", ".join(f"{ratio:.3g} ({WAYS[way]})" for way, ratio in known.items())
    return Verdict(
        claim,
        judgement,
        f"Times of AdaBoost.MO over the mean of the other methods of stumps: {told}. Much slower "
        f"is at least {MUCH:.0f} times. The paper has {_in_paper('mo', 'mh'):.0f} times the time of "
        f"single-label codes, and {_in_paper('mo', 'exp'):.0f} times that of a matrix of coefficients.",
    )


def _findings(records: Records) -> Iterator[str]:
    single, matrix = KINDS[0][3], KINDS[2][3]
    forms = {
        record.measures["form"]
        for method in (*single, "mo", *matrix)
        for record in records.of(method=method)
    }
    mo, others = (_mean(records, of, "compiled_us") for of in (("mo",), (*single, *matrix)))
    if forms == {"steps"} and mo is not None and others is not None:
        weak = _mean(records, ("mo",), "weak")
        yield (
            "The order in the paper is that of the formulas, not of what they compute. The stumps "
            "of a feature add up to a step function with a vector of k numbers per step, whatever "
            "the number of rounds and the training method. Evaluated in this way, the "
            f"{weak:,.0f} stumps of AdaBoost.MO take {mo:.1f} µs per row, the others {others:.1f}: "
            "what remains of its cost is training time and, until the stumps are added up, memory."
        )
    early = [
        f"{METHODS[record.trial.method].label} after {record.measures['rounds']}"
        for method in (*single, "mo", *matrix)
        for record in records.of(method=method)
        if not len(_whole(Records([record]), (method,)))
    ]
    if early:
        yield (
            "Some fits ended before the last round because nothing more could be gained: "
            f"{', '.join(early)}. "
            "Their models are smaller, so their times are left out of means and ratios."
        )
    ratio = _ratio(records, FORMULA, single, matrix)
    if ratio is not None:
        yield (
            "Single-label codes need one more product per round than a matrix of coefficients. In the "
            f"paper they take {_in_paper('mh', 'exp'):.1f} times as long; in NumPy, as written, "
            f"{ratio:.2f} times."
        )
    today = [
        f"{METHODS[method].label} takes {one:.1f} µs per row by `predict`, {bulk:.1f} in bulk"
        for method in TODAY
        if (one := _mean(records, (method,), "predict_us")) is not None
        and (bulk := _mean(records, (method,), "predict_bulk_us")) is not None
    ]
    if today:
        compiled = _mean(records, (TODAY[0],), "compiled_us")
        served = (
            "" if compiled is None else f" Compiled, MarginBoost takes {compiled:.1f} µs per row."
        )
        yield "; ".join(today) + "." + served


def _plot(records: Records) -> Plot:
    methods = [method for method in _methods() if len(records.of(method=method))]
    ways = (FORMULA, "predict_bulk_us", "compiled_us")

    def draw_bars(figure: Any) -> None:
        from marginboost.plot.canvas import COLOURS, tidy  # noqa: PLC0415  drawing is optional

        ax = figure.subplots()
        for number_, way in enumerate(ways):
            taken = [
                np.mean(_held(records.of(method=method), way) or [np.nan]) for method in methods
            ]
            places = np.arange(len(methods)) + 0.27 * (number_ - 1)
            ax.barh(places, taken, height=0.25, color=COLOURS[number_], label=WAYS[way])
        ax.set_xscale("log")
        ax.set_yticks(np.arange(len(methods)), [METHODS[method].label for method in methods])
        ax.invert_yaxis()
        ax.legend(frameon=False, fontsize="small")
        tidy(ax, "", "microseconds per row", "")

    return Plot(
        "table6",
        "Time to classify a row by method, on a logarithmic scale: the formula as written, predict "
        "in bulk, and the compiled model.",
        draw_bars,
        width=8.0,
        height=4.5,
    )
